import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { basename, dirname, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assert, suite } from '../support/suite.ts'
import { discover } from './discover.ts'
import { type RunOptions, runTests } from './main.ts'
import { runFiles } from './pool.ts'
import { createTally } from './tally.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Outcome {
  passed: boolean
  output: string
  lastLine: string
}

interface Case {
  fixture: string
  counts: [passed: number, failed: number, skipped: number]
  message: RegExp
  options?: Partial<RunOptions>
  /** Whether the fixture gets its own run, because its leftovers would affect the next one. */
  isAlone?: boolean
}

const defaults = { workers: 1, isolate: false, timeoutMs: 20_000, graceMs: 5_000, isCi: false }
const getFolder = (fixture: string) => `${root}test/runner/fixtures/${fixture}`

const test = suite<{ outcomes: Map<string, Outcome> }>('the test runner', { outcomes: new Map() })

const failing: Record<string, Case> = {
  'a suite imported from uvu directly': {
    fixture: 'forgotten-run',
    counts: [0, 1, 0],
    message: /imports uvu/,
  },
  'a file without a test': { fixture: 'no-tests', counts: [0, 1, 0], message: /declares no test/ },
  'a test without a body': { fixture: 'no-body', counts: [0, 1, 0], message: /has no body/ },
  'a test that is declared too late to run': { fixture: 'declared-late', counts: [1, 1, 0], message: /did not run/ },
  'a before hook that throws': {
    fixture: 'before-throws',
    counts: [0, 3, 0],
    message: /hooked › before\n +Error: the hook broke/,
  },
  'an after hook that throws': {
    fixture: 'after-throws',
    counts: [2, 1, 0],
    message: /hooked › after\n +Error: the hook broke/,
  },
  'a before.each hook that throws': { fixture: 'before-each-throws', counts: [0, 1, 0], message: /the hook broke/ },
  'an after.each hook that throws': { fixture: 'after-each-throws', counts: [0, 1, 0], message: /the hook broke/ },
  "a thrown value that isn't an Error": {
    fixture: 'thrown-values',
    counts: [0, 5, 0],
    message: /a bare string[\s\S]*thrown: undefined/,
  },
  'a leftover .only': { fixture: 'left-over-only', counts: [1, 2, 0], message: /\.only was left/ },
  'an unhandled rejection': { fixture: 'unhandled-rejection', counts: [1, 1, 0], message: /nobody handles this/ },
  'an error thrown after its test': {
    fixture: 'unhandled-late',
    counts: [1, 1, 0],
    message: /thrown later/,
    isAlone: true,
  },
  'a test that never settles': { fixture: 'hangs', counts: [1, 1, 0], message: /took longer than 50 ms/ },
  'a hook that never settles': { fixture: 'hook-hangs', counts: [0, 2, 0], message: /took longer than 50 ms/ },
  'a file that never finishes loading': {
    fixture: 'never-loads',
    counts: [0, 1, 0],
    message: /took longer than 900 ms/,
    options: { timeoutMs: 300 },
  },
  'a test that blocks its process; the next file still runs': {
    fixture: 'blocks',
    counts: [2, 1, 0],
    message: /spins forever\n +blocked/,
    options: { graceMs: 300 },
  },
  'a test that ends its process; the next file still runs': {
    fixture: 'exits',
    counts: [2, 1, 0],
    message: /ends the process\n +ended its process \(exit code 0\)/,
  },
  'a file that throws while loading; the next file still runs': {
    fixture: 'does-not-load',
    counts: [1, 1, 0],
    message: /broken at the top/,
  },
  'a wrong value, and shows the diff and the location': {
    fixture: 'fails',
    counts: [1, 1, 0],
    message: /wrong › compares unequal values\n[\s\S]*Expected:[\s\S]*fails\/it\.test\.ts:\d+/,
  },
  'a skip in continuous integration, unless its tag is allowed': {
    fixture: 'skips',
    counts: [1, 1, 3],
    message: /stops in the middle\n +skipped \(no network here\)/,
    options: { isCi: true },
  },
}

test.before(async (context) => {
  const fixtures = Object.values(failing).filter((item) => !isAlone(item))
  context.outcomes = await runTogether(fixtures.map(({ fixture }) => fixture))
})

for (const [name, item] of Object.entries(failing)) {
  const { fixture, counts, message, options } = item
  test(`the test runner fails on ${name}`, async ({ outcomes }) => {
    const outcome = isAlone(item) ? await runFixture(fixture, options) : outcomes.get(fixture)
    if (!outcome) throw new Error('the fixture was not run')
    assert.is(outcome.lastLine, closingLine(...counts), outcome.output)
    assert.match(outcome.output, message)
    assert.not(outcome.passed)
  })
}

test('the test runner exits with 0 and prints the counts last when all tests pass', async () => {
  const outcome = await execute(['test/run.ts', '--root', 'test/runner/fixtures/passing'])
  assert.is(outcome.lastLine, closingLine(3, 0, 1), outcome.output)
  assert.ok(outcome.passed)
})

test('the test runner exits with 1 and prints the counts last when a test fails', async () => {
  const outcome = await execute(['test/run.ts', '--root', 'test/runner/fixtures/fails'])
  assert.is(outcome.lastLine, closingLine(1, 1, 0), outcome.output)
  assert.not(outcome.passed)
})

test('the test runner detects continuous integration from CI=true', async () => {
  const outcome = await execute(['test/run.ts', '--root', 'test/runner/fixtures/skips'], { CI: 'true' })
  assert.is(outcome.lastLine, closingLine(1, 1, 3), outcome.output)
  assert.not(outcome.passed)
})

test('the test runner lists skipped tests with their reasons', async () => {
  const { output, lastLine } = await runFixture('skips')
  assert.is(lastLine, closingLine(1, 0, 4), output)
  assert.match(output, /\nSkipped:\n[\s\S]*stops in the middle: no network here\n/)
  assert.match(output, /is declared as skipped: recordings: none on this machine\n/)
  assert.match(output, /\n- 2 tests in 1 file: recordings: none at all\n/)
})

test('the test runner lists a file that was skipped entirely with the reason', async () => {
  const { output } = await runFixture('skipped-whole')
  assert.match(output, /^– \S+it\.test\.ts \(recordings: none on this machine, [\d.]+ m?s\)$/m)
})

test('the summary repeats why each test failed, and truncates long messages', () => {
  const lines: string[] = []
  const { fail, close } = createTally({ isCi: false, write: (line) => void lines.push(line) })
  fail('short', 'Expected: 1')
  fail('long', Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n'))
  assert.is(close(), false)
  const summary = lines.find((line) => line.startsWith('\nFailed:')) ?? ''
  assert.match(summary, /✘ short\n {4}Expected: 1\n✘ long\n {4}line 0\n/)
  assert.match(summary, /line 18\n {4}…$/)
})

test('the test runner fails on a filter that matches nothing, even if other filters match', async () => {
  const outcome = await runFixture('passing', { filters: ['good', 'no-such-file'] })
  assert.match(outcome.output, /no-such-file\n +this filter matches no test file/)
  assert.is(outcome.lastLine, closingLine(3, 1, 1), outcome.output)
  assert.not(outcome.passed)
})

test('the test runner fails if there are no test files', async () => {
  const outcome = await runFixture('no-such-folder')
  assert.is(outcome.lastLine, closingLine(0, 1, 0), outcome.output)
  assert.not(outcome.passed)
})

test('the test runner skips heavy files, and reports how many and how to run them', async () => {
  const outcome = await execute(['test/run.ts', '--root', 'test/runner/fixtures/heavy'])
  assert.match(
    outcome.output,
    /\nLeft out: 1 test file with heavy packages; `npm test -- --all` runs every test\.\n1 passed, 0 failed, 0 skipped\n$/,
  )
  assert.ok(outcome.passed)
})

test('the test runner runs heavy files with --all', async () => {
  const outcome = await execute(['test/run.ts', '--all', '--root', 'test/runner/fixtures/heavy'])
  assert.is(outcome.lastLine, closingLine(2, 0, 0), outcome.output)
  assert.not.match(outcome.output, /Left out/)
})

test('the test runner fails on a filter that matches only heavy files, unless --all is set', async () => {
  const outcome = await runFixture('heavy', { filters: ['big'] })
  assert.match(outcome.output, /only heavy test files were found: add --all/)
  assert.not(outcome.passed)
  assert.ok((await runFixture('heavy', { filters: ['big'], isAll: true })).passed)
})

test('the test runner skips long files, and reports how many and how to run them', async () => {
  const outcome = await execute(['test/run.ts', '--root', 'test/runner/fixtures/long'])
  assert.match(
    outcome.output,
    /\nLeft out: 3 long test files; `npm test -- --all` runs every test\.\n2 passed, 0 failed, 0 skipped\n$/,
  )
  assert.ok(outcome.passed)
})

test('the test runner runs long files with --all', async () => {
  const outcome = await execute(['test/run.ts', '--all', '--root', 'test/runner/fixtures/long'])
  assert.is(outcome.lastLine, closingLine(5, 0, 0), outcome.output)
  assert.not.match(outcome.output, /Left out/)
})

test('the test runner runs long files that match a filter by path or folder', async () => {
  const byName = await runFixture('long', { filters: ['long/histories'] })
  assert.is(byName.lastLine, closingLine(1, 0, 0), byName.output)
  const byFolder = await runFixture('long', { filters: ['long/cli'] })
  assert.is(byFolder.lastLine, closingLine(2, 0, 0), byFolder.output)
  assert.not.match(byFolder.output, /Left out/)
})

test('the run order has long files at both ends and short files in the middle', async () => {
  const { files } = await discover(getFolder('long'), [], true)
  assert.equal(
    files.map((path) => basename(path, '.test.ts')),
    ['kills', 'short', 'short', 'matrix', 'histories'],
  )
})

test('long.json lists only existing files, and the default run includes tests from almost every folder', async () => {
  const tests = `${root}test/`
  const names = Object.keys(JSON.parse(await readFile(`${tests}long.json`, 'utf8')))
  const nameBelowTests = (path: string) => relative(tests, path).split(sep).join('/')
  const everything = (await discover(tests, [], true)).files.map(nameBelowTests)
  assert.equal(
    names.filter((name) => !everything.includes(name)),
    [],
  )

  const { files, leftOut } = await discover(tests, [])
  const foldersWith = (paths: string[]) => new Set(paths.map((path) => nameBelowTests(path).split('/')[0] ?? ''))
  const kept = foldersWith(files)
  const emptied = [...foldersWith(leftOut.long)].filter((folder) => !kept.has(folder))
  const single = names.filter((name) => !name.includes('/')) // test files directly below test/
  assert.equal(emptied.toSorted(), ['runtimes', ...single].toSorted())
})

test('the default run includes no runtime tests', async () => {
  const { files } = await discover(`${root}test`, [])
  assert.equal(
    files.filter((path) => path.includes('/test/runtimes/')),
    [],
  )
})

test('the test runner runs files in one process, or in separate processes with --isolate', async () => {
  const shared = await runFixture('shares')
  assert.is(shared.lastLine, closingLine(1, 1, 0), shared.output)
  const isolated = await runFixture('shares', { isolate: true })
  assert.is(isolated.lastLine, closingLine(2, 0, 0), isolated.output)
})

test("the test runner's workers exit when the runner is killed, even a blocked worker", async () => {
  const args = ['test/run.ts', '--root', 'test/runner/fixtures/spins', '--grace-ms', '600000']
  const runner = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  const [pid] = await once(runner.stdout.setEncoding('utf8'), 'data')
  let isLeft = false
  const timer = setTimeout(() => {
    isLeft = true
    process.kill(Number(pid), 'SIGKILL')
  }, 5_000)
  runner.kill('SIGKILL')
  await once(runner, 'close') // resolves once no process holds its output open
  clearTimeout(timer)
  assert.not(isLeft)
})

test('a test file fails if it is started without the test runner', async () => {
  const outcome = await execute(['test/runner/fixtures/passing/good.test.ts'])
  assert.match(outcome.output, /test files run under the runner/)
  assert.not(outcome.passed)
})

const isAlone = ({ options, isAlone = Boolean(options) }: Case) => isAlone

/** Runs a fixture's files like the CLI, in separate workers. */
async function runFixture(name: string, options: Partial<RunOptions> = {}): Promise<Outcome> {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const passed = await runTests({ ...defaults, root: getFolder(name), filters: [], write, ...options })
  const output = lines.join('\n')
  return { passed, output, lastLine: getLastLine(output) }
}

/** Runs the files of many fixtures in one shared worker, and tallies each fixture separately. */
async function runTogether(names: string[]): Promise<Map<string, Outcome>> {
  const runs = new Map(
    names.map((name) => {
      const lines: string[] = []
      return [name, { lines, tally: createTally({ isCi: false, write: (line) => void lines.push(line) }) }]
    }),
  )
  const found = await Promise.all(names.map((name) => discover(getFolder(name), [])))
  await runFiles(
    found.flatMap(({ files }) => files),
    { ...defaults, onResult: (result) => runs.get(basename(dirname(result.path)))?.tally.add(result) },
  )
  return new Map(
    [...runs].map(([name, { lines, tally }]) => {
      const passed = tally.close()
      const output = lines.join('\n')
      return [name, { passed, output, lastLine: getLastLine(output) }]
    }),
  )
}

function execute(args: string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      args,
      { cwd: root, env: { ...process.env, CI: '', ...env } },
      (_, stdout, stderr) => {
        resolve({ passed: child.exitCode === 0, output: stdout + stderr, lastLine: getLastLine(stdout) })
      },
    )
  })
}

function getLastLine(text: string): string {
  return text.replace(/\n$/, '').split('\n').at(-1) ?? ''
}

function closingLine(passed: number, failed: number, skipped: number): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}
