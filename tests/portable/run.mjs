// Runs the module's functions for the seeds that begin the lines of the second argument, and prints
// lines of the same form.
import { readFileSync } from "node:fs";

const [module, lines] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const hex = (n) => BigInt.asUintN(64, n).toString(16).padStart(16, "0");
for (const line of lines.split("\n")) {
    const seed = Number(line.split(" ")[0]);
    const { trace, results } = instance.exports;
    console.log(`${seed} ${hex(trace(seed))} ${hex(results(seed))}`);
}
