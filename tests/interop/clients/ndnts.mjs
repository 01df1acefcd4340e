// NDNts as a command: what the tests have it do at a Weir daemon's socket, or at its WebSocket
// (`ws://…` in its place), as it does in a browser.
//   ndnts.mjs SOCKET serve NAME FILE [CERT KIND]  publish a file; signed by a new key, if its
//                                           certificate is to go into a file: ecdsa, rsa, ed25519;
//                                           or by the shared secret that is there: hmac
//   ndnts.mjs SOCKET fetch NAME FILE [CERT KIND]  find a name's version by metadata, fetch it,
//                                           write it; each packet verified by the certificate, or
//                                           by the shared secret: hmac. The certificate is fetched
//                                           as well, by what the first segment says of its key
//   ndnts.mjs SOCKET discover NAME FILE      the same, with the version found by the bare name
//   ndnts.mjs SOCKET command NAME JSON       a management command; prints what came back, as JSON
//   ndnts.mjs SOCKET list NAME [JSON]        one dataset, with a filter for faces, as JSON
//   ndnts.mjs SOCKET announce NAME          register by a prefix announcement, and answer
//   ndnts.mjs SOCKET ask NAME               one Interest; prints the Data as JSON
//   ndnts.mjs SOCKET group GROUP NAME CERT  be a member of a State Vector Sync group; each line of
//                                           standard input is a publication, and each state a line
import { consume, produce } from "@ndn/endpoint";
import {
    Certificate, ECDSA, Ed25519, HMAC, RSA, SigningAlgorithmListFull, createVerifier,
    generateSigningKey,
} from "@ndn/keychain";
import * as nfdmgmt from "@ndn/nfdmgmt";
import { UnixTransport } from "@ndn/node-transport";
import { Component, Data, Interest, Name, digestSigning } from "@ndn/packet";
import { Metadata, retrieveMetadata, serveMetadata } from "@ndn/rdr";
import {
    FileChunkSource, discoverVersion, fetch, serveVersioned,
} from "@ndn/segmented-object";
import { SvSync } from "@ndn/svs";
import { Decoder, Encoder } from "@ndn/tlv";
import { WsTransport } from "@ndn/ws-transport";
import { readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const [socket, verb, ...argv] = process.argv.slice(2);
// Where a producer's routes come from: the uplink itself has none.
const producing = verb === "serve" || verb === "announce";
const transport = socket.startsWith("ws:") ? WsTransport : UnixTransport;
const face = await transport.createFace(producing ? { addRoutes: [] } : {}, socket);

const shown = (_, value) => {
    if (typeof value === "bigint") {
        return Number(value);
    }
    return value instanceof Name || value instanceof Component ? `${value}` : value;
};
const print = (value) => console.log(JSON.stringify(value, shown));

// Getters are not enumerable, and datasets are made of them.
const plain = (item) => {
    const seen = { ...item };
    for (let at = Object.getPrototypeOf(item); at !== Object.prototype;
        at = Object.getPrototypeOf(at)) {
        for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
            if (get) {
                seen[name] = item[name];
            }
        }
    }
    return seen;
};

const names = new Set(["name", "strategy"]);
const parameters = (text) => JSON.parse(text, (key, value) => (
    names.has(key) ? new Name(value) : value));

const DATASETS = {
    "status/general": nfdmgmt.GeneralStatus,
    "faces/list": nfdmgmt.FaceStatus,
    "faces/channels": nfdmgmt.ChannelStatus,
    "cs/info": nfdmgmt.CsInfo,
    "strategy-choice/list": nfdmgmt.StrategyChoice,
    "rib/list": nfdmgmt.RibEntry,
};

const ALGORITHMS = { ecdsa: ECDSA, rsa: RSA, ed25519: Ed25519 };
const base64 = (data) => Buffer.from(Encoder.encode(data)).toString("base64");

// The file of a shared key as Weir has it: a line with its name, and between two lines the secret.
const shared = async (file) => {
    const [, name, secret] = /^Name: (\S+)$.*KEY-----$(.*?)^-----END/msu.exec(
        await readFile(file, "utf8"));
    return generateSigningKey(name, HMAC, { importRaw: Buffer.from(secret, "base64") });
};

const signing = async (name, file, kind) => {
    if (kind === "hmac") {
        return (await shared(file))[0];
    }
    const [privateKey, publicKey] = await generateSigningKey(name, ALGORITHMS[kind]);
    const { data } = await Certificate.selfSign({ privateKey, publicKey });
    await writeFile(file, base64(data));
    produce(data.name, async () => data);
    return privateKey.withKeyLocator(data.name);
};

const trusting = async (file, kind) => {
    if (kind === "hmac") {
        return (await shared(file))[1];
    }
    const wire = Buffer.from(await readFile(file, "utf8"), "base64");
    const certificate = Certificate.fromData(Decoder.decode(wire, Data));
    return createVerifier(certificate, { algoList: SigningAlgorithmListFull });
};

// What a segment says of its key leads to the certificate that is trusted.
const lookUp = async (object, file) => {
    const first = await consume(new Interest(object, Interest.CanBePrefix));
    const { name } = first.sigInfo.keyLocator;
    const found = await consume(new Interest(name, Interest.CanBePrefix, Interest.MustBeFresh));
    const same = base64(found) === (await readFile(file, "utf8")).replaceAll(/\s/gu, "");
    if (!same) {
        throw new Error(`${name} is another certificate`);
    }
};

const verbs = {
    async serve(name, file, certificate, kind) {
        // It takes each client of a WebSocket for a remote one, and would ask below /localhop.
        nfdmgmt.enableNfdPrefixReg(face, { prefix: nfdmgmt.localhostPrefix });
        const signer = certificate ? await signing(name, certificate, kind) : digestSigning;
        const server = serveVersioned(name, new FileChunkSource(file), { signer });
        const about = { prefix: name, freshnessPeriod: 4000, signer };
        serveMetadata(new Metadata(server.prefix), about);
        console.log(`${server.prefix}`);
    },
    async fetch(name, file, certificate, kind) {
        const verifier = certificate && await trusting(certificate, kind);
        const metadata = await retrieveMetadata(name, { retx: 2, verifier });
        const content = await fetch(metadata.name, { verifier });
        if (verifier && kind !== "hmac") {
            await lookUp(metadata.name, certificate);
        }
        await writeFile(file, content);
        face.close();
    },
    async discover(name, file) {
        const versioned = await discoverVersion(new Name(name));
        await writeFile(file, await fetch(versioned));
        face.close();
    },
    async command(name, text) {
        const response = await nfdmgmt.invoke(name, parameters(text));
        const { statusCode, statusText } = response;
        const body = plain(nfdmgmt.ControlParameters.decodeFromResponseBody(response));
        print({ statusCode, statusText, body });
        face.close();
    },
    async list(name, filter) {
        const query = filter && nfdmgmt.FaceQuery(JSON.parse(filter));
        const items = await nfdmgmt.list(query ?? DATASETS[name]);
        print(items.map(plain));
        face.close();
    },
    async announce(name) {
        const [signer] = await generateSigningKey("/announcer");
        const announcement = await nfdmgmt.PrefixAnn.build({
            announced: name, expirationPeriod: 1_200_000, signer,
        });
        nfdmgmt.enableNfdPrefixReg(face, { PrefixAnn: nfdmgmt.PrefixAnn, signer });
        produce(name, async ({ name: asked }) => (
            new Data(asked, Data.FreshnessPeriod(1000), Uint8Array.of(0x57))), { announcement });
        console.log(name);
    },
    async group(group, name, certificate) {
        nfdmgmt.enableNfdPrefixReg(face, { prefix: nfdmgmt.localhostPrefix });
        const signer = await signing(name, certificate, "ed25519");
        const sync = await SvSync.create({
            syncPrefix: new Name(group), svs3: true, signer, periodicTimeout: 1000,
            suppressionPeriod: 200,
        });
        const show = () => {
            print([...sync.currentStateVector].map(([{ name: member, boot }, seq]) => (
                { name: member, boot, seq })));
        };
        sync.addEventListener("update", show);
        const own = sync.add(new Name(name));
        createInterface({ input: process.stdin }).on("line", () => {
            own.seqNum += 1;
            show();
        });
    },
    async ask(name) {
        const data = await consume(new Interest(name, Interest.CanBePrefix, Interest.MustBeFresh));
        print({ name: data.name, content: [...data.content] });
        face.close();
    },
};
await verbs[verb](...argv);
