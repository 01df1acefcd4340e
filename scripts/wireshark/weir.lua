-- Wireshark's view of NDN packets as Weir sends them: NDNLPv2 with every hop-by-hop option of
-- docs/reference/wire.md, Interests and Data.
--
--   tshark -X lua_script:scripts/wireshark/weir.lua -r run.pcapng
--
-- or copy it to the folder of personal Lua plugins (Help, About Wireshark, Folders). It reads
-- Ethernet frames of type 0x8624, and UDP and TCP of port 6363. Nothing in a packet is trusted: an
-- element that does not fit is shown as malformed, and the rest of the packet is read on.

local weir = Proto("weir", "Named Data Networking (Weir)")
local f = {}

local function field(name, kind, text, ...)
  f[name] = ProtoField[kind]("weir." .. name, text, ...)
end

field("type", "string", "Packet")
field("name", "string", "Name")
field("nonce", "uint32", "Nonce", base.HEX)
field("lifetime", "uint64", "Lifetime (ms)")
field("hop_limit", "uint8", "Hop limit")
field("token", "bytes", "PIT token")
field("sequence", "uint64", "Sequence")
field("frag_index", "uint64", "Fragment index")
field("frag_count", "uint64", "Fragment count")
field("nack", "uint64", "Nack reason")
field("mark", "uint64", "Congestion mark")
field("ack", "uint64", "Acknowledgement")
field("tx_sequence", "uint64", "Transmission sequence")
field("incoming_face", "uint64", "Incoming face")
field("next_hop_face", "uint64", "Next-hop face")
field("header", "bytes", "Other header field")
field("content_size", "uint32", "Content (bytes)")
field("malformed", "string", "Malformed")
field("range.count", "uint64", "Range: segments in the run")
field("range.wanted", "string", "Range: wanted")
field("class", "uint64", "Traffic class", base.DEC, { [0] = "primary", [1] = "secondary" })
field("rate.primary", "uint64", "Rate stamp, primary (bit/s)")
field("rate.secondary", "uint64", "Rate stamp, secondary (bit/s)")
field("path_id", "uint64", "Path identifier", base.HEX)
field("label.mode", "string", "Path label: mode")
field("label.hops", "uint8", "Path label: hop count")
field("label.next", "uint16", "Path label: next hop", base.HEX)
field("label.labels", "string", "Path label: labels")
field("hint.kind", "uint8", "Steering hint", base.DEC, { [1] = "Bloom filter", [2] = "random value" })
field("hint.bytes", "bytes", "Steering hint: bytes")
field("anticipated.wanted", "string", "Anticipated segments")
field("anticipated.node", "uint64", "Anticipated: held by node", base.HEX)
field("anticipated.held", "string", "Anticipated: held segments")
field("anticipated.hops", "uint8", "Anticipated: hops since")
field("anticipated.elapsed", "uint64", "Anticipated: time (ns)")
field("served.asked", "bool", "Served by: asked for")
field("served.node", "uint64", "Served by: node", base.HEX)
field("served.hops", "uint8", "Served by: forwarders since")
field("expected", "uint64", "Expected bytes of Data")
field("rtt", "uint64", "Round-trip time of the consumer (ns)")
field("rtt_spread", "uint64", "Time by which answers over another path may come later (ns)")
field("residence_time", "uint64", "Time for which the sender had the Interest (microseconds)")
field("capability", "uint64", "Capability", base.HEX)
field("capability.range", "bool", "Capability: ranges")
field("capability.options", "bool", "Capability: options")
field("offers", "string", "Offers: rate (bit/s) of link")
field("address.challenge", "uint64", "Address challenge", base.HEX)
field("address.echo", "uint64", "Address echo", base.HEX)
field("caches.below", "uint8", "Caches passed by the Interest")
field("caches.capacity", "uint64", "Capacity of the caches passed")
field("caches.passed", "uint8", "Caches passed by the Data")
field("exclude", "bytes", "Excluded packet: digest begins with")
field("caches.age", "uint64", "Age of the last copy (ns)")

local fields = {}
for _, one in pairs(f) do
  fields[#fields + 1] = one
end
weir.fields = fields
local fault = ProtoExpert.new("weir.fault", "Malformed element", expert.group.MALFORMED,
  expert.severity.WARN)
weir.experts = { fault }

local INTEREST, DATA, LP = 0x05, 0x06, 0x64
local PORT, ETHERTYPE = 6363, 0x8624
local ZERO = UInt64(0)

-- A number in the form of TLV-TYPE and TLV-LENGTH at `at`, and the bytes that it takes; nothing if
-- the bytes end before.
local function var(tvb, at)
  if at >= tvb:len() then
    return nil
  end
  local first = tvb(at, 1):uint()
  if first < 253 then
    return UInt64(first), 1
  end
  local width = ({ [253] = 2, [254] = 4, [255] = 8 })[first]
  if at + 1 + width > tvb:len() then
    return nil
  end
  return tvb(at + 1, width):uint64(), 1 + width
end

-- A NonNegativeInteger that is all of `tvb`.
local function nni(tvb)
  local len = tvb and tvb:len() or 0
  if len == 1 or len == 2 or len == 4 or len == 8 then
    return tvb(0, len):uint64()
  end
  return nil
end

-- The elements of `tvb` from `at` on, as {type, whole, value}; `value` is nothing if it is empty.
local function elements(tvb, at)
  return function()
    local typ, type_len = var(tvb, at)
    if not typ then
      return nil
    end
    local len, len_len = var(tvb, at + type_len)
    local start = at + type_len + (len_len or 0)
    if not len or len > UInt64(tvb:len() - start) then
      return nil
    end
    local n = len:tonumber()
    local element = {
      typ = typ:tonumber(),
      whole = tvb(at, start + n - at),
      value = n > 0 and tvb(start, n):tvb() or nil,
    }
    at = start + n
    return element
  end
end

-- The places, from 0, of the bits that are set in `count` bits, the most significant of a byte
-- first.
local function bits(tvb, at, count)
  local found = {}
  for i = 0, count - 1 do
    local byte = tvb(at + math.floor(i / 8), 1):uint()
    if math.floor(byte / 2 ^ (7 - i % 8)) % 2 == 1 then
      found[#found + 1] = i
    end
  end
  return found
end

-- What each option's value means: functions that add to the tree, and return false if the value
-- does not fit its layout.
local option = {}

local function number(name)
  return function(tree, tvb)
    local n = nni(tvb)
    if not n then
      return false
    end
    tree:add(f[name], tvb(), n)
    return true, n
  end
end

option[864] = function(tree, tvb)
  local count, len = var(tvb, 0)
  if not count or count < UInt64(2) or count > UInt64(256) then
    return false
  end
  local n, rest = count:tonumber(), tvb:len() - len
  local bytes = math.ceil(n / 8)
  if rest ~= 0 and rest ~= bytes then
    return false
  end
  tree:add(f["range.count"], tvb(0, len), count)
  if rest == 0 then
    tree:add(f["range.wanted"], tvb(0, len), "all")
    return true
  end
  local wanted = bits(tvb, len, bytes * 8)
  if #wanted == 0 or wanted[#wanted] >= n then
    return false
  end
  tree:add(f["range.wanted"], tvb(len, bytes), table.concat(wanted, ","))
  return true
end

option[868] = function(tree, tvb)
  local n = nni(tvb)
  if not n or n > UInt64(1) then
    return false
  end
  tree:add(f["class"], tvb(), n)
  return true
end

option[872] = function(tree, tvb)
  local primary, len = var(tvb, 0)
  if not primary then
    return false
  end
  local secondary, rest = var(tvb, len)
  if not secondary or len + rest ~= tvb:len() then
    return false
  end
  tree:add(f["rate.primary"], tvb(0, len), primary)
  tree:add(f["rate.secondary"], tvb(len, rest), secondary)
  return true
end

option[876] = function(tree, tvb)
  if tvb:len() ~= 8 then
    return false
  end
  tree:add(f["path_id"], tvb(), tvb(0, 8):uint64())
  return true
end

option[880] = function(tree, tvb)
  if tvb:len() < 4 or tvb:len() > 68 then
    return false
  end
  local modes = { [0] = "discovery", [1] = "fallback", [2] = "strict" }
  local mode = modes[tvb(0, 1):uint() % 4] or "both fallback and strict"
  tree:add(f["label.mode"], tvb(0, 1), mode)
  tree:add(f["label.hops"], tvb(1, 1))
  tree:add(f["label.next"], tvb(2, 2))
  local labels = {}
  for i = 0, math.floor((tvb:len() - 4) * 2 / 3) - 1 do
    local pair = tvb(4 + math.floor(i * 12 / 8), 2):uint()
    local label = i % 2 == 0 and math.floor(pair / 16) or pair % 4096
    labels[#labels + 1] = string.format("0x%03x", label)
  end
  if #labels > 0 then
    tree:add(f["label.labels"], tvb(4, tvb:len() - 4), table.concat(labels, ","))
  end
  return true
end

option[884] = function(tree, tvb)
  local kind = tvb(0, 1):uint()
  if tvb:len() < 2 or tvb:len() > 65 or kind < 1 or kind > 2 then
    return false
  end
  tree:add(f["hint.kind"], tvb(0, 1))
  tree:add(f["hint.bytes"], tvb(1, tvb:len() - 1))
  return true
end

option[888] = function(tree, tvb)
  local count, at = var(tvb, 0)
  if not count or count < UInt64(1) or count > UInt64(64) then
    return false
  end
  local n, wanted, segment = count:tonumber(), {}, ZERO
  for i = 1, n do
    local step, len = var(tvb, at)
    if not step then
      return false
    end
    segment, at = segment + step, at + len
    wanted[i] = tostring(segment)
  end
  tree:add(f["anticipated.wanted"], tvb(0, at), table.concat(wanted, ","))
  local bytes = math.ceil(n / 8)
  for _ = 1, 17 do
    if at == tvb:len() then
      return true
    end
    if at + 8 + bytes + 1 > tvb:len() then
      return false
    end
    local elapsed, len = var(tvb, at + 8 + bytes + 1)
    if not elapsed then
      return false
    end
    local held = {}
    for _, place in ipairs(bits(tvb, at + 8, n)) do
      held[#held + 1] = wanted[place + 1]
    end
    tree:add(f["anticipated.node"], tvb(at, 8), tvb(at, 8):uint64())
    tree:add(f["anticipated.held"], tvb(at + 8, bytes), table.concat(held, ","))
    if tvb(at + 8 + bytes, 1):uint() ~= 255 then
      tree:add(f["anticipated.hops"], tvb(at + 8 + bytes, 1))
    end
    tree:add(f["anticipated.elapsed"], tvb(at + 9 + bytes, len), elapsed)
    at = at + 9 + bytes + len
  end
  return false
end

option[892] = function(tree, tvb, whole)
  if not tvb then
    tree:add(f["served.asked"], whole, true)
    return true
  end
  if tvb:len() ~= 9 then
    return false
  end
  tree:add(f["served.node"], tvb(0, 8), tvb(0, 8):uint64())
  tree:add(f["served.hops"], tvb(8, 1))
  return true
end

option[896] = number("expected")
option[900] = number("rtt")

option[928] = number("rtt_spread")
option[932] = number("residence_time")

option[904] = function(tree, tvb)
  local fits, n = number("capability")(tree, tvb)
  if fits then
    local low = n:lower()
    tree:add(f["capability.range"], tvb(), low % 2 == 1)
    tree:add(f["capability.options"], tvb(), math.floor(low / 2) % 2 == 1)
  end
  return fits
end

local function token(name)
  return function(tree, tvb)
    if tvb:len() ~= 8 then
      return false
    end
    tree:add(f[name], tvb(0, 8), tvb(0, 8):uint64())
    return true
  end
end

option[916] = token("address.challenge")
option[920] = token("address.echo")

option[908] = function(tree, tvb)
  local capacity = tvb:len() > 1 and nni(tvb(1):tvb())
  if not capacity then
    return false
  end
  tree:add(f["caches.below"], tvb(0, 1))
  tree:add(f["caches.capacity"], tvb(1), capacity)
  return true
end

option[912] = function(tree, tvb)
  tree:add(f["caches.passed"], tvb(0, 1))
  if tvb:len() > 1 then
    local age = nni(tvb(1):tvb())
    if not age then
      return false
    end
    tree:add(f["caches.age"], tvb(1), age)
  end
  return true
end

option[924] = function(tree, tvb)
  if tvb:len() % 4 ~= 0 or tvb:len() < 4 or tvb:len() > 12 then
    return false
  end
  local offers = {}
  for at = 0, tvb:len() - 4, 4 do
    local rate = 2 ^ (tvb(at, 2):uint() / 1024)
    offers[#offers + 1] = string.format("%.0f of 0x%04x", rate, tvb(at + 2, 2):uint())
  end
  tree:add(f["offers"], tvb(), table.concat(offers, ", "))
  return true
end

option[940] = function(tree, tvb)
  if tvb:len() % 8 ~= 0 or tvb:len() > 64 then
    return false
  end
  for at = 0, tvb:len() - 8, 8 do
    tree:add(f["exclude"], tvb(at, 8))
  end
  return true
end

local function malformed(tree, range, what)
  tree:add(f["malformed"], range, what):add_proto_expert_info(fault, what)
end

-- Options whose value may be empty.
local MAY_BE_EMPTY = { [892] = true }

local function dissect_option(tree, element)
  local dissect = option[element.typ]
  if not dissect then
    return false
  end
  local fits = false
  if element.value or MAY_BE_EMPTY[element.typ] then
    fits = dissect(tree, element.value, element.whole)
  end
  if not fits then
    malformed(tree, element.whole, "option " .. element.typ)
  end
  return true
end

-- A name's URI.
local WORDS = { [0x32] = "seg", [0x34] = "off", [0x36] = "v", [0x38] = "t", [0x3a] = "seq" }

local function uri(tvb)
  local parts = {}
  if tvb then
    for component in elements(tvb, 0) do
      local value, typ = component.value, component.typ
      local n = nni(value)
      local text = ""
      if value and not (n and WORDS[typ]) then
        for i = 0, value:len() - 1 do
          local byte = value(i, 1):uint()
          local plain = string.find(string.char(byte), "^[%w%-%._~]$") ~= nil
          text = text .. (plain and string.char(byte) or string.format("%%%02X", byte))
        end
      end
      if n and WORDS[typ] then
        text = WORDS[typ] .. "=" .. tostring(n)
      elseif typ ~= 8 then
        text = typ .. "=" .. text
      end
      parts[#parts + 1] = text
    end
  end
  return "/" .. table.concat(parts, "/")
end

-- What is shown of a packet's elements.
local function dissect_packet(tree, packet)
  local shown = { name = "/" }
  for element in elements(packet.value or packet.whole:tvb(), 0) do
    local typ, value = element.typ, element.value
    if typ == 0x07 then
      shown.name = uri(value)
      tree:add(f["name"], element.whole, shown.name)
    elseif typ == 0x0a and value and value:len() == 4 then
      tree:add(f["nonce"], value())
    elseif typ == 0x0c and nni(value) then
      tree:add(f["lifetime"], value(), nni(value))
    elseif typ == 0x22 and value and value:len() == 1 then
      tree:add(f["hop_limit"], value())
    elseif typ == 0x15 then
      tree:add(f["content_size"], element.whole, value and value:len() or 0)
    end
  end
  return shown.name
end

-- Header fields of NDNLPv2 that are one number.
local NUMBERS = {
  [81] = "sequence", [82] = "frag_index", [83] = "frag_count", [812] = "incoming_face",
  [816] = "next_hop_face", [832] = "mark", [836] = "ack", [840] = "tx_sequence",
}

local function dissect_nack(tree, element)
  local reason = ZERO
  if element.value then
    for inner in elements(element.value, 0) do
      if inner.typ == 801 and nni(inner.value) then
        reason = nni(inner.value)
      end
    end
  end
  tree:add(f["nack"], element.whole, reason)
end

local function dissect_link(tree, link)
  local fragment, nack, count = nil, false, UInt64(1)
  if link.value then
    for element in elements(link.value, 0) do
      local typ, value = element.typ, element.value
      if typ == 80 then
        fragment = element
      elseif typ == 98 and value then
        tree:add(f["token"], value())
      elseif typ == 800 then
        nack = true
        dissect_nack(tree, element)
      elseif NUMBERS[typ] and nni(value) then
        tree:add(f[NUMBERS[typ]], value(), nni(value))
        if typ == 83 then
          count = nni(value)
        end
      elseif not dissect_option(tree, element) then
        tree:add(f["header"], element.whole)
      end
    end
  end
  return fragment, nack, count
end

-- One frame: a link packet, or a bare Interest or Data. What it is in a few words.
local function dissect_frame(tvb, root)
  local frame = elements(tvb, 0)()
  if not frame then
    return nil
  end
  local tree = root:add(weir, frame.whole)
  local packet, nack, count = frame, false, UInt64(1)
  if frame.typ == LP then
    local fragment
    fragment, nack, count = dissect_link(tree, frame)
    if not (fragment and fragment.value) then
      tree:add(f["type"], frame.whole, "IDLE")
      return "IDLE", frame.whole:len()
    end
    if count > UInt64(1) then
      tree:add(f["type"], frame.whole, "Fragment")
      return "Fragment", frame.whole:len()
    end
    packet = elements(fragment.value, 0)()
  end
  local kind = packet and ({ [INTEREST] = "Interest", [DATA] = "Data" })[packet.typ]
  if not kind then
    malformed(tree, frame.whole, "neither Interest nor Data")
    return "Malformed", frame.whole:len()
  end
  kind = nack and "Nack" or kind
  tree:add(f["type"], packet.whole, kind)
  local name = dissect_packet(tree, packet)
  tree:append_text(": " .. kind .. " " .. name)
  return kind .. " " .. name, frame.whole:len()
end

function weir.dissector(tvb, pinfo, root)
  local at, said = 0, {}
  while at < tvb:len() do
    local typ, type_len = var(tvb, at)
    local len, len_len
    if typ then
      len, len_len = var(tvb, at + type_len)
    end
    local whole = len and type_len + len_len + len:tonumber()
    if not whole or at + whole > tvb:len() then
      if pinfo.port_type == 2 and (not typ or typ <= UInt64(LP)) then
        -- More of it comes with the next segment of the stream.
        pinfo.desegment_offset = at
        pinfo.desegment_len = whole and at + whole - tvb:len() or DESEGMENT_ONE_MORE_SEGMENT
        return
      end
      break
    end
    local kind = typ:tonumber()
    if kind ~= INTEREST and kind ~= DATA and kind ~= LP then
      break
    end
    local words = dissect_frame(tvb(at, whole):tvb(), root)
    said[#said + 1] = words
    at = at + whole
  end
  if #said > 0 then
    pinfo.cols.protocol = "NDN"
    pinfo.cols.info = table.concat(said, "; ")
  elseif at == 0 and tvb:len() > 0 then
    local tree = root:add(weir, tvb())
    malformed(tree, tvb(), "no NDN packet")
  end
end

DissectorTable.get("ethertype"):add(ETHERTYPE, weir)
DissectorTable.get("udp.port"):add(PORT, weir)
DissectorTable.get("tcp.port"):add(PORT, weir)
