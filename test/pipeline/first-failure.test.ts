import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import type * as GatewayModule from '../../src/gateway.ts'
import { portableBoom } from '../../tsup.config.ts'
import { root } from '../dist/built.ts'
import { portable } from '../dist/portable.ts'
import { assert, suite } from '../support/suite.ts'

/** A provider's responses, each labeled by what is unusual about it. */
const responses: Record<string, { stream: boolean; status?: number; body: string }> = {
  'an error status': {
    stream: false,
    status: 429,
    body: json({ error: { message: 'Slow down.', code: 'rate_limit' } }),
  },
  'an error status for a stream': { stream: true, status: 503, body: json({ error: { message: 'Overloaded.' } }) },
  'an error in a 200': { stream: false, body: json({ error: { message: 'Too many tokens.', code: 429 } }) },
  'an error without a name': {
    stream: false,
    body: json({ detail: "This model's maximum context length is 8 tokens." }),
  },
  'a response without choices': { stream: false, body: json({ id: 'c' }) },
  'an error as the first event': {
    stream: true,
    body: events({ error: { message: 'Too fast.', code: 'rate_limit_exceeded' } }),
  },
  'a vague error followed by its reason': {
    stream: true,
    body: events({ error: { message: '' } }, { error: { message: 'Quota.', code: 'insufficient_quota' } }),
  },
  'an unnamed error as the first event': {
    stream: true,
    body: events({ detail: "This model's maximum context length is 8 tokens." }),
  },
  'an unknown event before the content': {
    stream: true,
    body: events({ type: 'hello' }, chunk('Hi'), end(), '[DONE]'),
  },
  'an error after the content': {
    stream: true,
    body: events(chunk('Hi'), { error: { message: 'Too fast.', code: 429 } }),
  },
  'a vague error after the content': {
    stream: true,
    body: events(chunk('Hi'), { error: {} }, { error: { message: 'Quota.' } }),
  },
  'a failed choice': { stream: true, body: events(chunk('Hi'), end('network_error'), '[DONE]') },
  'an error without a blank line': {
    stream: true,
    body: `${events(chunk('Hi'))}data: ${json({ error: { message: 'Slow down.', code: 'rate_limit_exceeded' } })}`,
  },
  'a bare error at the end': {
    stream: true,
    body: `${events(chunk('Hi'))}${json({ error: { message: 'Slow down.', code: 'rate_limit_exceeded' } })}`,
  },
  'a stream that is cut off': { stream: true, body: events(chunk('Hi')) },
  'a web page': { stream: false, body: '<html>Sign in</html>' },
}

function json(value: unknown): string {
  return JSON.stringify(value)
}

function events(...data: unknown[]): string {
  return data.map((item) => `data: ${typeof item === 'string' ? item : json(item)}\n\n`).join('')
}

function chunk(content: string, finish_reason: string | null = null) {
  return { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content }, finish_reason }] }
}

function end(reason = 'stop') {
  return { ...chunk('', reason), usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }
}

const test = suite('the first failure in a process', { folder: '', copies: 0 })

/** Bundles the gateway, so each test can import fresh copies of all modules. */
test.before(async (context) => {
  context.folder = await mkdtemp(join(root, 'node_modules/.first-failure-'))
  const entryPoints = [`${root}src/gateway.ts`]
  const options = { ...portable, entryPoints, plugins: [portableBoom] }
  const { outputFiles = [] } = await build(options)
  await writeFile(join(context.folder, 'gateway.mjs'), outputFiles[0]?.text ?? '')
})

test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

for (const [label, { stream, status = 200, body }] of Object.entries(responses))
  test(`${label} is classified the same way whether or not the error parsers are loaded`, async (context) => {
    const file = pathToFileURL(join(context.folder, 'gateway.mjs')).href
    const { createGateway }: typeof GatewayModule = await import(`${file}?copy=${++context.copies}`)
    const seen: unknown[] = []
    for (const _ of ['not loaded', 'loaded']) {
      const attempts: unknown[] = []
      const headers = { 'content-type': stream && status === 200 ? 'text/event-stream' : 'application/json' }
      const gateway = createGateway({
        storage: memoryStorage(),
        fetch: async () => new Response(body, { status, headers }),
        logger: false,
        hooks: {
          onAttempt: ({ outcome, status, message }) => void attempts.push({ outcome, status, message }),
          onRequest: ({ status, error }) => void attempts.push({ status, error }),
        },
      })
      const connection = await gateway.api.connections.create({ provider: 'openai', apiKey: 'sk-first' })
      const request = { model: 'openai/gpt-5', stream, messages: [{ role: 'user', content: 'Hi' }] }
      const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: json(request) }
      const response = await gateway.fetch(new Request('http://gateway/v1/chat/completions', post))
      const text = await response.text()
      const { health } = await gateway.api.connections.get(connection.id)
      const states = health?.map(({ level, state, reason, failures }) => ({ level, state, reason, failures }))
      seen.push({ status: response.status, text, attempts, states })
      await gateway.close()
    }
    assert.equal(seen[0], seen[1])
  })
