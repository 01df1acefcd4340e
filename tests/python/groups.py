"""Groups of `weir.Application` and `weir.aio.Application` through a real daemon."""

import asyncio
import gc
import os
import signal
import subprocess
import threading

import weir
from _application import LONG, SHORT, TASKS, WithApplication
from _published import PROGRAM
from support.children import wait_until
from weir import aio

GROUP = "/lab"
MEMBERS = ("ann", "bob", "cyd")


class WithGroup(WithApplication):
    """Keys of members, which the key of the group certifies. Mallory certifies Eve's."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trust = cls.folder / "lab.cert"
        cls.trust.write_text(cls.key("new", GROUP), encoding="utf-8")
        for member in MEMBERS:
            cls.certify(f"{GROUP}/{member}", GROUP)
        cls.certify(f"{GROUP}/eve", "/mallory")

    @classmethod
    def key(cls, *words, text=None):
        """A command about keys."""
        command = [PROGRAM, "key", *words]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        return done.stdout

    @classmethod
    def certify(cls, name, issuer):
        """A new key with a certificate of the issuer."""
        signed = cls.key("sign", "-", "--by", issuer, text=cls.key("new", name))
        cls.key("import", "-", text=signed)

    def setUp(self):
        self.app = weir.Application(self.socket, trust=self.trust)
        self.addCleanup(self.app.close)
        # Publications of earlier tests are not in this group.
        self.group = f"{GROUP}/{self._testMethodName}"

    def join(self, member, app=None, **options):
        """Join the group of the test."""
        return (app or self.app).join(self.group, f"{GROUP}/{member}", **options)

    def take(self, group, count):
        """The next publications: the last part of the member, the number, the content."""
        taken = []
        for at in range(count):
            one = group.next(LONG)
            self.assertIsNotNone(one, f"{at} of {count} came; {group.state}")
            self.assertEqual((one.verified, one.is_late), ("key", False))
            self.assertTrue(one.key.startswith(f"{one.member}/KEY/"), one)
            taken.append((one.member.rpartition("/")[2], one.seq, one.content))
        return taken


class Groups(WithGroup):
    """Members, what they learn, and their ends."""

    def test_members_learn_all_of_each_other_in_order(self):
        """Three members, from several threads; the states agree."""
        groups = {member: self.join(member) for member in MEMBERS}
        count = 30

        def publish(member):
            for number in range(1, count + 1):
                self.assertEqual(groups[member].publish(f"{member} {number}"), number)

        threads = [threading.Thread(target=publish, args=(member,)) for member in MEMBERS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for own, group in groups.items():
            taken = self.take(group, 2 * count)
            for other in set(MEMBERS) - {own}:
                wanted = [(other, n, f"{other} {n}".encode()) for n in range(1, count + 1)]
                self.assertEqual([one for one in taken if one[0] == other], wanted)
            names = {f"{GROUP}/{member}" for member in MEMBERS}
            self.assertEqual(set(group.members), names - {f"{GROUP}/{own}"})
            self.assertEqual({(s.member, s.seq) for s in group.state}, {(n, count) for n in names})
            self.assertTrue(group.wait_until_fetched(LONG))
            self.assertEqual((group.unfetched, group.missing, group.rejected), (0, 0, 0))
            self.assertEqual((group.warnings, group.error), ([], None))
            self.assertIsNone(group.next(0))
        ann = groups["ann"]
        self.assertEqual((ann.name, ann.member), (self.group, f"{GROUP}/ann"))
        self.assertIn(f"{self.group} as {GROUP}/ann", repr(ann))
        self.assertEqual(self.app.groups, list(groups.values()))
        self.assertEqual(self.app.registrations, [])

    def test_a_late_member_gets_what_others_keep(self):
        """After the first member has left. Its history can be shorter."""
        with self.join("ann") as ann, self.join("bob") as bob:
            for number in range(1, 6):
                ann.publish(bytes([number]))
            wanted = [("ann", n, bytes([n])) for n in range(1, 6)]
            self.assertEqual(self.take(bob, 5), wanted)
            self.assertTrue(ann.wait_until_fetched(LONG))
            ann.close()
            cyd = self.join("cyd", history=2)
            self.assertEqual(self.take(cyd, 2), wanted[3:])

    def test_members_that_are_not_trusted_are_ignored(self):
        """And counted, with a reason."""
        ann = self.join("ann")
        with weir.Application(self.socket, trust=self.folder / "mallory.cert") as other:
            eve = self.join("eve", other)
            eve.publish("forged")
            wait_until(lambda: ann.rejected > 0, "the rejection", LONG)
            with self.join("bob") as bob:
                bob.publish("true")
                self.assertEqual(self.take(ann, 1), [("bob", 1, b"true")])
            self.assertEqual(ann.members, [f"{GROUP}/bob"])
            wait_until(lambda: ann.warnings, "a reason", LONG)

    def test_a_group_survives_the_daemon(self):
        """Publications from meanwhile come after its restart."""
        ann, bob = self.join("ann"), self.join("bob")
        ann.publish("before")
        self.assertEqual(self.take(bob, 1), [("ann", 1, b"before")])
        self.daemon.process.kill()
        ann.publish("meanwhile")
        self.daemon.start()
        self.addClassCleanup(self.daemon.process.kill)
        self.assertEqual(self.take(bob, 1), [("ann", 2, b"meanwhile")])
        self.assertEqual((ann.error, bob.error), (None, None))

    def test_the_end_of_a_group_ends_what_waits(self):
        """By its `close`, and that of the application."""
        for close in (lambda group: group.close(), lambda group: group._application.close()):
            app = weir.Application(self.socket, trust=self.trust)
            group = self.join("ann", app)
            group.publish("nobody is there")
            ended, begun = [], threading.Barrier(4)

            def iterate(group=group, ended=ended, begun=begun):
                begun.wait()
                ended.append(list(group))

            def take(call, ended=ended, begun=begun):
                begun.wait()
                try:
                    call()
                except weir.UsageError as error:
                    ended.append(str(error))

            threads = [
                threading.Thread(target=iterate, daemon=True),
                threading.Thread(target=take, args=(group.next,), daemon=True),
                threading.Thread(target=take, args=(group.wait_until_fetched,), daemon=True),
            ]
            for thread in threads:
                thread.start()
            begun.wait()
            self.assertFalse(group.wait_until_fetched(0))
            self.assertIsNone(group.next(SHORT))
            close(group)
            for thread in threads:
                thread.join(LONG)
            self.assertEqual(len(ended), 3)
            texts = {one for one in ended if isinstance(one, str)}
            closed = {"the group is closed", "the application is closed"}
            self.assertLessEqual(texts, closed | {"the application was closed meanwhile"})
            for call in (group.next, lambda group=group: group.publish("x")):
                with self.assertRaisesRegex(weir.UsageError, "closed"):
                    call()
            self.assertEqual((list(group), app.groups, self.prefixes()), ([], [], set()))
            app.close()

    def test_wrong_arguments_have_clear_errors(self):
        """Of `join` and of the methods."""
        for call, error, text in (
            (lambda: self.join("nobody"), weir.UsageError, "no key|not for"),
            (lambda: self.join("ann", key="/lab/nobody"), weir.UsageError, "/lab/nobody"),
            (lambda: self.app.join("a b", "/lab/ann"), weir.UsageError, "a b"),
            (lambda: self.app.join("/", "/lab/ann"), weir.UsageError, "names with a component"),
            (lambda: self.join("ann", history=0), ValueError, "`history` is at least 1"),
            (lambda: self.join("ann", keep=2001), weir.UsageError, "2001 is not within 1 and 2000"),
            (lambda: self.join("ann", waiting="9"), TypeError, "`waiting` is a whole number"),
        ):
            with self.assertRaisesRegex(error, text):
                call()
        with self.join("ann") as ann:
            for call, error, text in (
                (lambda: ann.next(-1), ValueError, "`timeout` is at least 0, not -1"),
                (lambda: ann.next(float("nan")), ValueError, "`timeout` is at least 0"),
                (lambda: ann.next("1"), TypeError, "`timeout` is a number"),
                (lambda: ann.publish(7), TypeError, "`content` is bytes or a text"),
                (lambda: ann.publish(bytes(8800)), weir.TransferError, "publish an object"),
            ):
                with self.assertRaisesRegex(error, text):
                    call()
            self.assertEqual(ann.state, [])
        self.assertEqual(self.app.groups, [])

    def test_a_group_that_is_garbage_ends(self):
        """With its application, which has no other user."""
        before = len(list(TASKS.iterdir()))

        def begun():
            app = weir.Application(self.socket, trust=self.trust)
            self.join("ann", app).publish("x")

        begun()
        gc.collect()
        wait_until(lambda: not self.prefixes(), "the end of the registration", LONG)
        wait_until(lambda: len(list(TASKS.iterdir())) <= before, "the end of the thread", LONG)

    def test_an_interpreter_ends_while_groups_wait(self):
        """In another thread, without `close`; by Ctrl-C; and a fork has no part in them."""
        trust = f"app = weir.Application(sys.argv[1], trust={str(self.trust)!r})\n"
        joined = f"group = app.join({self.group!r}, '/lab/ann')\n"
        child, out = self.script(
            trust
            + joined
            + "threading.Thread(target=lambda: list(group), daemon=True).start()\n"
            + "pid = os.fork()\n"
            + "if pid == 0:\n"
            + "    for call in (lambda: group.publish('x'), lambda: group.error):\n"
            + "        try: call()\n"
            + "        except weir.UsageError: continue\n"
            + "        os._exit(1)\n"
            + "    os._exit(7)\n"
            + "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        )
        self.check_end(child, out, ["7"])
        wait_until(lambda: not self.prefixes(), "the end of the registration", LONG)
        child, out = self.script(
            trust
            + joined
            + "try:\n    print('waiting', flush=True)\n    group.next()\n"
            + "except KeyboardInterrupt: print('ended')\n"
        )
        wait_until(lambda: "waiting" in out.read_text(encoding="utf-8"), "the group", LONG)
        os.kill(child.pid, signal.SIGINT)
        self.check_end(child, out, ["7", "waiting", "ended"])


class Asyncio(WithGroup):
    """Groups in an event loop."""

    def test_members_learn_of_each_other(self):
        """By `async for`, `next` and states; a cancelled task ends its wait."""

        async def test():
            async with aio.Application(self.socket, trust=self.trust) as app:
                async with await self.join("ann", app) as ann, await self.join("bob", app) as bob:
                    self.assertEqual(app.groups, [ann, bob])
                    for number in range(3):
                        ann.publish(f"{number}")
                    taken = []
                    async for one in bob:
                        taken.append(one.content)
                        if len(taken) == 3:
                            break
                    self.assertEqual(taken, [b"0", b"1", b"2"])
                    self.assertTrue(await ann.wait_until_fetched(LONG))
                    self.assertIsNone(await ann.next(SHORT))
                    waiting = asyncio.create_task(ann.next())
                    await asyncio.sleep(0)
                    waiting.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await waiting
                    bob.publish("back")
                    self.assertEqual((await ann.next(LONG)).content, b"back")
                    with self.assertRaisesRegex(TypeError, "async for"):
                        iter(ann)
                self.assertEqual(app.groups, [])
                with self.assertRaisesRegex(weir.UsageError, "closed"):
                    await ann.next()

        asyncio.run(asyncio.wait_for(test(), LONG))
        self.assertEqual(self.prefixes(), set())

    def test_the_end_of_the_application_ends_iterations(self):
        """Of groups that it has."""

        async def test():
            async with aio.Application(self.socket, trust=self.trust) as app:
                group = await self.join("ann", app)

                async def iterate():
                    return [one async for one in group]

                waiting = asyncio.create_task(iterate())
                await asyncio.sleep(0)
            self.assertEqual(await waiting, [])

        asyncio.run(asyncio.wait_for(test(), LONG))
        self.assertEqual(self.prefixes(), set())
