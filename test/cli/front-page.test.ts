import { VERSION } from '../../src/lib/version.ts'
import { assert, suite } from '../support/suite.ts'
import { type Command, cleanUp, findToken, signalbox, temporaryFolder } from './command.ts'

const test = suite("GET / on the CLI's gateway", { baseUrl: '', command: undefined as Command | undefined, data: '' })

test.before(async (context) => {
  context.data = await temporaryFolder()
  context.command = signalbox(['--data', context.data])
  context.baseUrl = await context.command.baseUrl()
})

test.after(cleanUp)

test('the front page is plain text with the program name, base URLs, and first commands', async ({
  baseUrl,
  command,
  data,
}) => {
  const response = await fetch(`${baseUrl}/`)
  assert.is(response.status, 200)
  assert.is(response.headers.get('content-type'), 'text/plain; charset=utf-8')
  const text = await response.text()
  assert.match(text, `Signalbox ${VERSION}: an LLM gateway`)
  assert.match(text, `OpenAI clients     ${baseUrl}/v1\n`)
  assert.match(text, `curl ${baseUrl}/api/connections`)
  assert.match(text, `GET ${baseUrl}/health`)
  for (const secret of [findToken(command as Command), data]) assert.not.match(text, secret)
})

test('the front page shows browsers the same text as a web page without scripts', async ({ baseUrl }) => {
  const text = await (await fetch(`${baseUrl}/`)).text()
  const page = await fetch(`${baseUrl}/`, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
  assert.is(page.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(page.headers.get('content-security-policy') ?? '', "default-src 'none'")
  const html = await page.text()
  assert.match(html, /^<!doctype html>[\s\S]*<pre>/)
  const shown = /<pre>([\s\S]*)<\/pre>/.exec(html)?.[1] ?? ''
  assert.is(shown.replace(/&lt;/g, '<').replace(/&amp;/g, '&'), text)
})

test('the front page is JSON for clients that accept only JSON, and empty for HEAD', async ({ baseUrl }) => {
  const json = await fetch(`${baseUrl}/`, { headers: { accept: 'application/json' } })
  assert.equal(await json.json(), { name: 'signalbox', baseUrl: '/v1', models: '/v1/models' })
  const head = await fetch(`${baseUrl}/`, { method: 'HEAD' })
  assert.equal([head.status, await head.text()], [200, ''])
  assert.is((await fetch(`${baseUrl}/nothing`)).status, 404)
  assert.is((await fetch(`${baseUrl}/`, { method: 'POST' })).status, 404)
})

test('GET /health returns the status and version', async ({ baseUrl }) => {
  assert.equal(await (await fetch(`${baseUrl}/health`)).json(), { status: 'ok', version: VERSION })
})
