import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assert, suite } from './support/suite.ts'

const setup = fileURLToPath(new URL('../setup.mjs', import.meta.url))
const test = suite('the setup', { folder: '' })

test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'setup-'))
  await copyFile(setup, join(context.folder, 'setup.mjs'))
})

test.after(({ folder }) => rm(folder, { recursive: true }))

test('says in one line what it can do', async () => {
  const { code, stderr } = await run(setup, ['nonsense'])
  assert.is(stderr, 'setup: say what to do: start, test, build, check, bench\n')
  assert.is(code, 1)
})

test('says that npm took --demo for itself', async ({ folder }) => {
  const { code, stderr } = await run(join(folder, 'setup.mjs'), ['start'], { npm_config_demo: 'true' })
  assert.is(stderr, 'setup: npm took --demo for itself; write a -- before it: npm start -- --demo\n')
  assert.is(code, 1)
})

test('says in one line that there is no npm', async ({ folder }) => {
  const { code, stderr } = await run(join(folder, 'setup.mjs'), ['start'], { PATH: dirname(process.execPath) })
  assert.is(stderr, 'setup: cannot run npm: spawn npm ENOENT\n')
  assert.is(code, 1)
})

test('says in one line why npm fails', async ({ folder }) => {
  const { code, stderr } = await run(join(folder, 'setup.mjs'), ['start'])
  assert.match(stderr, /^setup: npm could not install the dependencies: .*package-lock\.json.*\n$/)
  assert.is(code, 1)
})

function run(
  path: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [path, ...args],
      { env: { ...process.env, ...env } },
      (_, _stdout, stderr) => resolve({ code: child.exitCode ?? -1, stderr }),
    )
  })
}
