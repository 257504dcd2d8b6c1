import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { runTests } from './runner/main.ts'

/*
 * The test runner: `node test/run.ts [--all] [--isolate] [--workers N] [part of a path ...]`.
 * Without `--all` it leaves out the folders in `test/heavy.json`, whose packages only `npm test -- --all` installs, and, unless there is a filter,
 * the files in `test/long.json`, which lists the seconds of CPU that each takes with `CI=true`. The longest start first. Files in a heavy folder are
 * listed for that reason only.
 * Files share three processes, or one more than there are cores, since one lane mostly waits; one more with `--all`, whose tests wait more. With
 * `--isolate` each file has its own process.
 * Properties meet the same cases and `Math.random` draws the same numbers each time; `SEED=<number>` has them be others.
 * A test may take 90 s, or 180 s with `CI=true`, unless it says otherwise, and loading a file three times that: that ends what hangs, also on a slow
 * machine under load.
 * The last line is `N passed, N failed, N skipped`; any failure exits with 1.
 */

const isCi = /^(?:1|true)$/.test(process.env.CI ?? '')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    isolate: { type: 'boolean', default: false },
    workers: { type: 'string' },
    root: { type: 'string', default: 'test' },
    'timeout-ms': { type: 'string', default: isCi ? '180000' : '90000' },
    'grace-ms': { type: 'string', default: '5000' },
  },
})

const workers = values.workers ?? Math.min(3, availableParallelism() + 1) + (values.all ? 1 : 0)

const passed = await runTests({
  root: values.root,
  filters: positionals,
  isAll: values.all,
  workers: Math.max(1, Number(workers) || 1),
  isolate: values.isolate,
  timeoutMs: Number(values['timeout-ms']),
  graceMs: Number(values['grace-ms']),
  isCi,
  write: (line) => console.log(line),
})
process.exitCode = passed ? 0 : 1
