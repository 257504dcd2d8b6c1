import { spawn } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Validator } from '@cfworker/json-schema'
import { readConfigFile } from '../../src/cli/config-file.ts'
import { createConfigSchema } from '../../src/cli/config-schema/config-schema.ts'
import { parseYaml } from '../../src/cli/yaml.ts'
import { assert, suite } from '../support/suite.ts'
import { cleanUp, signalbox, temporaryFolder } from './command.ts'

const main = new URL('../../dist/cli.js', import.meta.url).pathname
const test = suite('signalbox init', { folder: '' })

test.before.each(async (context) => {
  context.folder = await temporaryFolder()
})
test.after(cleanUp)

/** Runs `signalbox init` in a folder. */
async function init(folder: string, ...args: string[]) {
  const child = spawn(process.execPath, [main, 'init', ...args], { cwd: folder, env: {} })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await ended, out, err }
}

const read = (folder: string, name: string) => readFile(join(folder, name), 'utf8')

async function listVariables(folder: string): Promise<Record<string, string>> {
  const lines = (await read(folder, '.env')).split('\n').filter((line) => /^\w+=/.test(line))
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/, 2)))
}

test('init creates a config file and secrets that the gateway can start with', async ({ folder }) => {
  const { code, out, err } = await init(folder)
  assert.equal([code, err], [0, ''])
  assert.match(out, /^Created signalbox\.yaml\nCreated \.env \(added SIGNALBOX_SECRET, SIGNALBOX_ADMIN_TOKEN, /)
  assert.match(out, 'npx signalbox --config signalbox.yaml')
  assert.equal((await readdir(folder)).sort(), ['.env', 'signalbox.yaml'])
  assert.is((await stat(join(folder, '.env'))).mode & 0o777, 0o600)
  const env = await listVariables(folder)
  assert.equal(Object.keys(env), ['SIGNALBOX_SECRET', 'SIGNALBOX_ADMIN_TOKEN', 'SIGNALBOX_METRICS_TOKEN', 'APP_KEY'])
  for (const value of Object.values(env)) assert.match(value, /^(?:sbx_)?[0-9a-f]{64}$/)
  assert.is(new Set(Object.values(env)).size, 4)
  for (const value of Object.values(env)) assert.not.match(out, value)

  const command = signalbox(['--data', join(folder, 'data'), '--config', join(folder, 'signalbox.yaml'), '--metrics'], {
    env,
  })
  const url = await command.baseUrl()
  const get = async (path: string, token?: string) =>
    (await fetch(url + path, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })).status
  assert.equal(
    [
      await get('/v1/models'),
      await get('/v1/models', env.APP_KEY),
      await get('/api/keys', env.SIGNALBOX_ADMIN_TOKEN),
      await get('/metrics', env.SIGNALBOX_METRICS_TOKEN),
    ],
    [401, 200, 200, 200],
  )
  assert.is(command.stderr, '')
  await command.stop()
})

test('init writes commented-out config examples that are valid when uncommented', async ({ folder }) => {
  await init(folder)
  const full = (await read(folder, 'signalbox.yaml')).replace(
    /^( *)# (?!yaml-language-server)((?: *[\w-]+:|connections|combos|aliases).*)$/gm,
    '$1$2',
  )
  await writeFile(join(folder, 'whole.yaml'), full)
  const env = { APP_KEY: 'a', WEB_KEY: 'b', OPENAI_API_KEY: 'c' }
  const { keys, connections, combos, aliases } = await readConfigFile(join(folder, 'whole.yaml'), env)
  assert.equal([keys.length, connections.length, combos.length, aliases.length], [2, 2, 1, 1], full)
  const validator = new Validator(createConfigSchema(), '2020-12')
  assert.equal(validator.validate(parseYaml(full)).errors, [])
  assert.equal(validator.validate(parseYaml(await read(folder, 'signalbox.yaml'))).errors, [])
})

test("init references the package's JSON Schema in the config file's first line", async ({ folder }) => {
  await init(folder)
  const [first] = (await read(folder, 'signalbox.yaml')).split('\n')
  const path = './node_modules/signalbox/dist/config.schema.json'
  assert.is(first, `# yaml-language-server: $schema=${path}`)
  await mkdir(join(folder, 'node_modules'))
  await symlink(new URL('../..', import.meta.url).pathname, join(folder, 'node_modules/signalbox'))
  assert.equal(JSON.parse(await read(folder, path)), createConfigSchema(), 'Run npm run build.')
})

test('init keeps existing files and reports them', async ({ folder }) => {
  await init(folder)
  const before = [await read(folder, 'signalbox.yaml'), await read(folder, '.env')]
  const { code, out, err } = await init(folder)
  assert.equal([code, err], [0, ''])
  assert.match(
    out,
    /^Kept signalbox\.yaml \(it already exists\)\nKept \.env \(kept SIGNALBOX_SECRET, SIGNALBOX_ADMIN_TOKEN, SIGNALBOX_METRICS_TOKEN, APP_KEY\)\n/,
  )
  assert.equal([await read(folder, 'signalbox.yaml'), await read(folder, '.env')], before)
})

test('init adds only variables that are missing from the .env file', async ({ folder }) => {
  const own = 'PORT=4100\nexport SIGNALBOX_ADMIN_TOKEN=mine\nAPP_KEY='
  await writeFile(join(folder, '.env'), own)
  await chmod(join(folder, '.env'), 0o644)
  const { code, out, err } = await init(folder, '--env-only')
  assert.is(code, 0)
  assert.is(
    out,
    'Updated .env (added SIGNALBOX_SECRET, SIGNALBOX_METRICS_TOKEN; kept SIGNALBOX_ADMIN_TOKEN, APP_KEY)\n',
  )
  assert.is(
    err,
    'signalbox: warning: APP_KEY is empty in .env. Set it, or delete the line and run the command again.\n' +
      'signalbox: warning: Other users can read .env. To prevent that, run: chmod 600 .env\n',
  )
  const after = await read(folder, '.env')
  assert.ok(after.startsWith(`${own}\n\n# `), after)
  assert.equal(await readdir(folder), ['.env'])
})

test("init --cloud-proxy creates only a cloud proxy's secrets", async ({ folder }) => {
  const { out } = await init(folder, '--cloud-proxy')
  assert.is(out, 'Created .env (added SIGNALBOX_SECRET, SIGNALBOX_ENROLLMENT_TOKEN)\n')
  assert.equal(await readdir(folder), ['.env'])
})

for (const [line, now] of [
  ['SECRET=x', 'SIGNALBOX_SECRET'],
  ['export ADMIN_TOKEN=x', 'SIGNALBOX_ADMIN_TOKEN'],
  ['SCRAPE_TOKEN=x', 'SIGNALBOX_METRICS_TOKEN'],
] as const)
  test(`init reports a renamed variable's new name: ${line}`, async ({ folder }) => {
    await writeFile(join(folder, '.env'), `${line}\n`)
    const { code, out, err } = await init(folder)
    const [, former] = /(\w+)=/.exec(line) ?? []
    assert.equal([code, out], [1, ''])
    assert.is(
      err,
      `signalbox: .env sets ${former}, which is now called ${now}. Rename it, keep its value, and run the command again.\n`,
    )
    assert.is(await read(folder, '.env'), `${line}\n`)
    assert.equal(await readdir(folder), ['.env'])
  })

test("init adds .env to a Git repository's .gitignore, unless it is already ignored", async ({ folder }) => {
  await mkdir(join(folder, '.git'))
  assert.match((await init(folder, '--env-only')).out, /\nCreated \.gitignore \(added \.env\)\n$/)
  assert.is(await read(folder, '.gitignore'), '.env\n')
  assert.not.match((await init(folder, '--env-only')).out, 'gitignore')

  const inner = join(folder, 'packages', 'gateway')
  await mkdir(inner, { recursive: true })
  assert.is((await init(inner, '--env-only')).out.includes('gitignore'), false)
  for (const [root, isIgnored] of [
    ['node_modules\n/.env', false],
    ['.env.local\n.env.*', false],
    ['*.env\r\n', true],
    ['**/.env*', true],
  ] as const) {
    await writeFile(join(folder, '.gitignore'), root)
    await writeFile(join(inner, '.gitignore'), 'dist')
    await init(inner, '--env-only')
    assert.is(await read(inner, '.gitignore'), isIgnored ? 'dist' : 'dist\n.env\n', root)
  }
})

test('init prints its result as JSON, without secrets', async ({ folder }) => {
  const { out } = await init(folder, '--json', '--env-only')
  assert.equal(JSON.parse(out), {
    files: [
      {
        file: '.env',
        status: 'created',
        added: ['SIGNALBOX_SECRET', 'SIGNALBOX_ADMIN_TOKEN', 'SIGNALBOX_METRICS_TOKEN', 'APP_KEY'],
      },
    ],
    warnings: [],
  })
})

test('the error for an unreadable file contains its path', async ({ folder }) => {
  await mkdir(join(folder, '.env'))
  const { code, err } = await init(folder)
  assert.equal([code, err], [1, 'signalbox: Cannot read .env (EISDIR).\n'])
  assert.equal(await readdir(folder), ['.env'])
})
