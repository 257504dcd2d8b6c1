import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { manifest } from '../dist/built.ts'
import { startUpstream } from '../runtimes/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { readPages } from './pages.ts'
import { openShell, type Shell } from './shell.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { text: page, blocks } = readPages().find(({ path }) => path === 'README.md') ?? { text: '', blocks: [] }
const written = blocks.filter(({ note }) => note === undefined)
const [embed = ''] = written.filter(({ language }) => language === 'js').map(({ code }) => code)
const [secrets = '', request = ''] = written.filter(({ language }) => language === 'sh').map(({ code }) => code)

const test = suite('the front page', { shell: undefined as Shell | undefined })

test.before(async (context) => {
  context.shell = await openShell()
})
test.after(({ shell }) => shell?.remove())

test('front page images use repository paths in `src` and absolute URLs in `srcset`, as npm needs', () => {
  const { repository }: { repository: { url: string } } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
  const [, name = ''] = /github\.com\/(.+)\.git$/.exec(repository.url) ?? []
  const inRepository = `https://raw.githubusercontent.com/${name}/HEAD/`
  const sources = [...page.matchAll(/\bsrcset="([^"]+)"/g)].map(([, address = '']) => address)
  const images = [...page.matchAll(/<img src="([^"]+)"/g)].map(([, path = '']) => path)
  assert.ok(sources.length > 0 && images.length > 0)
  assert.equal(
    sources.filter((address) => !address.startsWith(inRepository)),
    [],
  )
  const paths = [...images, ...sources.map((address) => address.slice(inRepository.length))]
  assert.equal(
    paths.filter((path) => !existsSync(root + path)),
    [],
  )
})

test('the embedding example on the front page handles its request, and rejects one without a key', async ({
  shell,
}) => {
  if (!shell) return
  const { folder, run } = shell
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/signalbox'), 'dir')
  await symlink(join(root, 'node_modules/express'), join(folder, 'node_modules/express'), 'dir')
  await writeFile(join(folder, 'server.mjs'), embed)
  const commands = secrets.trimEnd().split('\n')
  const start = commands.pop() ?? ''
  await run(commands.join('\n'), { OPENAI_API_KEY: 'sk-openai' })

  const upstream = await startUpstream()
  const [program, ...args] = start.split(' ')
  assert.is(program, 'node')
  const server = spawn(process.execPath, args, {
    cwd: folder,
    env: { PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [url] = await new Promise<string[]>((resolve, reject) => {
      server.stdout.once('data', (line: Buffer) => resolve(/http:.*(?=\/v1)/.exec(String(line)) ?? []))
      server.once('close', () => reject(new Error('the embed has ended')))
    })
    const { SIGNALBOX_ADMIN_TOKEN } = Object.fromEntries(
      (await readFile(join(folder, '.env'), 'utf8')).split('\n').map((line) => line.split(/=(.*)/, 2)),
    )
    const moved = await fetch(`${url}/api/connections/openai`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${SIGNALBOX_ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ baseUrl: upstream.url, apiKey: 'sk-openai' }),
    })
    assert.is(moved.status, 200)
    const response = await run(request.replaceAll('http://127.0.0.1:3000/ai', url ?? ''))
    assert.match(response, /"Hel"[\s\S]*"lo"[\s\S]*data: \[DONE\]/)
    assert.is((await fetch(`${url}/v1/models`)).status, 401)
  } finally {
    server.kill()
    upstream.close()
  }
})

test('every line of the embedding example on the front page is in examples/express', () => {
  const example = readFileSync(`${root}examples/express/server.mjs`, 'utf8')
    .split('\n')
    .map((line) => line.trim())
  const lines = embed.split('\n').map((line) => line.trim())
  assert.equal(
    lines.filter((line) => !example.includes(line)),
    [],
  )
  const code = lines.filter((line) => line !== '')
  assert.ok(code.length <= 20, `the example has ${code.length} lines`)
})

test('the front page warns about not requiring a key, right below the example', () => {
  const sentence = page.indexOf('without it, anyone who can reach the gateway can spend your money')
  assert.ok(sentence > 0)
  const end = page.indexOf(embed) + embed.length
  assert.ok(sentence > end && sentence - end < 200)
})

test('the front page lists every dependency that is installed with the package', () => {
  const names = Object.keys(manifest.dependencies)
  assert.is(names.length, 8, 'the front page says there are eight')
  assert.match(page, 'eight dependencies')
  for (const name of names) assert.match(page, `\`${name}\``)
})
