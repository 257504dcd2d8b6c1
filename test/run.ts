import { availableParallelism } from 'node:os'
import { relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { discover } from './runner/discover.ts'
import { type FileResult, runFiles } from './runner/pool.ts'
import { createTally } from './runner/tally.ts'

/*
 * The test runner: `node test/run.ts [--isolate] [--workers N] [part of a path ...]`.
 * Its last line is `N passed, N failed, N skipped`; it exits with 1 on any failure.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    isolate: { type: 'boolean', default: false },
    workers: { type: 'string', default: String(Math.min(2, availableParallelism())) },
    root: { type: 'string', default: 'test' },
    'timeout-ms': { type: 'string', default: '20000' },
    'grace-ms': { type: 'string', default: '5000' },
  },
})

const tally = createTally({ isCi: /^(?:1|true)$/.test(process.env.CI ?? ''), write: (line) => console.log(line) })
const { files, unmatched } = await discover(resolve(values.root), positionals)
for (const filter of unmatched) tally.fail(filter, 'this filter matches no test file')
if (files.length === 0) tally.fail(values.root, 'no test file was found')

const onResult = (result: FileResult) => tally.add({ ...result, path: relative(process.cwd(), result.path) })
await runFiles(files, {
  workers: Math.max(1, Number(values.workers) || 1),
  isolate: values.isolate,
  timeoutMs: Number(values['timeout-ms']),
  graceMs: Number(values['grace-ms']),
  onResult,
})
process.exitCode = tally.close() ? 0 : 1
