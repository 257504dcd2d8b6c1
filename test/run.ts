import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { runTests } from './runner/main.ts'

/*
 * The test runner: `node test/run.ts [--all] [--isolate] [--workers N] [part of a path ...]`. Without `--all`, it skips the folders in
 * `test/heavy.json`, whose packages are only installed by `npm test -- --all`. Without a filter, it also skips the files in `test/long.json`, which
 * lists their CPU time in seconds with `CI=true`. The longest files start first; files in heavy folders are listed only for that order. By default,
 * files share three processes, or one more than there are cores, because one of them mostly waits. With `--all`, there is one more, because those
 * tests wait more. With `--isolate`, each file has its own process. Property tests and `Math.random` repeat the same cases; `SEED=<number>` changes
 * them. A test may take 90 s, or 180 s with `CI=true`, unless it sets its own limit. Loading a file may take three times as long. The limit ends
 * tests that hang, even on a slow machine under load. The last line is `N passed, N failed, N skipped`. The exit code is 1 if anything failed.
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
