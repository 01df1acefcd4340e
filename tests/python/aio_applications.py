"""`weir.aio.Application` through a real daemon."""

import asyncio

import weir
from _application import LONG, SHORT, WithApplication
from weir import aio


class Asyncio(WithApplication):
    """The same in an event loop."""

    def loop(self, function, **options):
        """Run a test with an application of asyncio."""

        async def main():
            async with aio.Application(self.socket, **options) as app:
                return await asyncio.wait_for(function(app), LONG)

        return asyncio.run(main())

    def test_handlers_run_in_the_loop_several_at_a_time(self):
        """The first one waits for the second, and both for the consumer's loop."""

        async def test(app):
            second, loop = asyncio.Event(), asyncio.get_running_loop()

            async def handler(interest):
                self.assertIs(asyncio.get_running_loop(), loop)
                if interest.name.endswith("first"):
                    await second.wait()
                else:
                    second.set()
                return interest.name

            made = await app.register("/alice/aio", handler)
            plain = await app.register("/alice/plain", lambda interest: interest.name)
            names = ["/alice/aio/first", "/alice/aio/second", "/alice/plain/1"]
            asked = [app.express(name, lifetime=LONG) for name in names]
            answers = await asyncio.gather(*asked)
            self.assertEqual([data.content.decode() for data in answers], names)
            self.assertEqual((made.answered, plain.answered), (2, 1))
            await made.close()
            self.assertEqual(self.prefixes(), {"/alice/plain"})

        self.loop(test)
        self.assertEqual(self.prefixes(), set())

    def test_decorated_handlers_begin_with_the_application(self):
        """Later, `register` is awaited."""
        app = aio.Application(self.socket, key="/alice", trust=self.folder / "alice.cert")

        @app.register("/alice/decorated")
        async def handler(interest):
            return weir.Reply(interest.name, freshness=1)

        async def main():
            with self.assertRaisesRegex(weir.UsageError, "use `async with`"):
                await app.express("/alice/decorated/1")
            async with app:
                with self.assertRaisesRegex(weir.UsageError, "use `await app.register"):
                    app.register("/alice/late")(handler)
                data = await app.express("/alice/decorated/1", fresh=True, lifetime=LONG)
                self.assertEqual(data.verified, "key")
                async with app.publish("/alice/object", b"content"):
                    self.assertEqual((await app.fetch("/alice/object")).content, b"content")
                with self.assertRaisesRegex(TypeError, "no option `lifetme`"):
                    await app.express("/alice/x", lifetme=1)
            with self.assertRaisesRegex(weir.UsageError, "closed"):
                await app.express("/alice/decorated/1")
            with self.assertRaisesRegex(weir.UsageError, "runs once"):
                await app.__aenter__()

        asyncio.run(main())

    def test_faults_of_a_handler_are_logged(self):
        """The Interest is rejected, and the registration goes on."""

        async def test(app):
            async def handler(interest):
                await asyncio.sleep(0)
                if interest.name.endswith("raises"):
                    raise ValueError("a mistake of the program")
                return 42 if interest.name.endswith("number") else None

            made = await app.register("/alice/faulty", handler)
            for last, text in (("raises", "a mistake"), ("number", "not int")):
                with self.assertLogs("weir") as logs, self.assertRaises(weir.NotFound):
                    await app.express(f"/alice/faulty/{last}", lifetime=LONG)
                self.assertRegex(logs.output[0], f"/alice/faulty/{last}")
                self.assertRegex(logs.output[0], text)
            with self.assertRaises(weir.NotFound):
                await app.express("/alice/faulty/none", lifetime=LONG)
            self.assertEqual((made.answered, made.rejected, made.failed), (0, 1, 2))

        self.loop(test)

    def test_a_cancelled_task_ends_its_interest(self):
        """And the end of the application the tasks of handlers."""
        ended = []

        async def test(app):
            begun = asyncio.Event()

            async def handler(_):
                begun.set()
                try:
                    await asyncio.sleep(3600)
                finally:
                    ended.append("handler")

            await app.register("/alice/slow", handler)
            waiting = asyncio.create_task(app.express("/alice/slow/1", lifetime=3600))
            await begun.wait()
            waiting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await waiting
            # The thread of the Interest has ended.
            await asyncio.to_thread(app._executor.shutdown)

        self.loop(test)
        self.assertEqual(ended, ["handler"])

    def test_a_handler_may_close_its_registration(self):
        """The daemon knows the prefix no more."""

        async def test(app):
            closed = asyncio.Event()

            async def handler(_):
                await app.registrations[0].close()
                closed.set()

            await app.register("/alice/once", handler)
            with self.assertRaises((weir.TimedOut, weir.NotFound)):
                await app.express("/alice/once/1", lifetime=SHORT)
            await closed.wait()
            self.assertEqual((self.prefixes(), app.registrations), (set(), []))

        self.loop(test)
