import { relative, resolve } from 'node:path'
import { discover } from './discover.ts'
import { type PoolOptions, runFiles } from './pool.ts'
import { createTally, type TallyOptions } from './tally.ts'

export interface RunOptions extends Omit<PoolOptions, 'onResult'>, TallyOptions {
  /** The folder to search for tests. */
  root: string
  /** Substrings of test file paths. Each one must match a file. */
  filters: readonly string[]
  /** Whether to also run the heavy and long files. */
  isAll?: boolean
}

/** Finds and runs tests, and reports their results. Resolves to `true` if every test in every file passed. */
export async function runTests(options: RunOptions): Promise<boolean> {
  const tally = createTally(options)
  const { files, leftOut, unmatched } = await discover(resolve(options.root), options.filters, options.isAll)
  for (const filter of unmatched) tally.fail(filter, 'this filter matches no test file')
  if (files.length === 0)
    tally.fail(
      options.root,
      leftOut.heavy.length > 0 ? 'only heavy test files were found: add --all' : 'no test file was found',
    )
  await runFiles(files, {
    ...options,
    onResult: (result) => tally.add({ ...result, path: relative(process.cwd(), result.path) }),
  })
  return tally.close({ long: leftOut.long.length, heavy: leftOut.heavy.length })
}
