import { inspect } from 'node:util'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { judge, pii, words } from '../../src/features/guards/guards.ts'
import { jsonLog } from '../../src/features/observe/log.ts'
import type { GatewayObserver } from '../../src/features/observe/observer.ts'
import { prometheus } from '../../src/features/observe/prometheus.ts'
import { createGateway } from '../../src/gateway.ts'
import { chatChunk, chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { type Call, fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { type ClientRequest, clientNames, clients, WORD } from './world.ts'

const test = suite('content detected by guards')

const TOKEN = 'token-of-the-scrape-0123456789abcdef'
const ADDRESS = 'ann@example.com'

/** Opens a gateway, and records everything that it writes except to clients and providers. */
function openRecorded(respond: (call: Call) => Response) {
  const written: unknown[] = []
  const note =
    (kind: string) =>
    (...values: unknown[]) =>
      void written.push([kind, ...values])
  const record = <Names extends string>(names: readonly Names[]) =>
    Object.fromEntries(names.map((name) => [name, note(name)])) as Record<Names, (...values: unknown[]) => void>
  const observer: GatewayObserver = {
    request(request) {
      written.push(request)
      return {
        ...record(['asked', 'ended']),
        attempt(attempt) {
          written.push(attempt)
          return record(['begun', 'ended'])
        },
      }
    },
  }
  const storage = memoryStorage()
  const upstream = fakeUpstream(respond)
  const gateway = createGateway({
    ...{ storage, fetch: upstream, logger: record(['debug', 'info', 'warn', 'error']) },
    hooks: record(['onRequest', 'onAttempt', 'onUsage', 'onError']),
    observe: [observer, prometheus({ token: TOKEN }), jsonLog(note('line'))],
    connections: {
      one: { provider: 'one', apiKey: 'k', baseUrl: 'https://one.test/v1' },
      judge: { provider: 'judge', apiKey: 'k', baseUrl: 'https://judge.test/v1' },
    },
    guards: [
      words({ name: 'w', words: [WORD] }),
      pii({ name: 'm', action: 'mask' }),
      judge({ name: 'j', model: 'judge/m', policy: 'No.', onError: 'pass' }),
      {
        name: 'throws',
        onError: 'pass',
        check({ parts }) {
          throw new Error('It failed.', { cause: parts.length })
        },
      },
    ],
  })
  return {
    ...{ gateway, upstream },
    /** Returns everything that was written, as text. */
    async read() {
      const init = { headers: { authorization: `Bearer ${TOKEN}` } }
      const metrics = await (await gateway.fetch('http://gateway/metrics', init)).text()
      const usage = await gateway.api.usage.requests()
      await gateway.close()
      const stored = await storage.list('')
      return inspect([written, metrics, usage, stored], { depth: 20, maxArrayLength: null, maxStringLength: null })
    },
  }
}

for (const name of clientNames)
  for (const stream of [false, true])
    test(`no log, hook, metric, record, or error contains the blocked word or a masked address (${name}, ${stream ? 'streaming' : 'non-streaming'})`, async () => {
      const client: ClientRequest = clients[name]
      const { gateway, upstream, read } = openRecorded(({ provider, body }) => {
        const { stream: isStream, messages } = JSON.parse(body)
        if (provider === 'judge') return json(chatResponse(`I can't judge ${WORD} or ${ADDRESS}.`))
        const text = JSON.stringify(messages)
        if (text.includes('fail')) return json({ error: { message: `Bad content like ${WORD} in ${text}` } }, 500)
        if (text.includes('break') && isStream)
          return sse([
            chatChunk({ content: 'Hello' }),
            `data: ${JSON.stringify({ error: { message: `Like ${WORD}` } })}\n\n`,
          ])
        const output = text.includes('say') ? `It is ${WORD}.` : `Write to ${/\w+-1-\w+/.exec(text)} or ${ADDRESS}.`
        return isStream
          ? sse([...[...output].map((content) => chatChunk({ content })), ...chatEvents().slice(-3)])
          : json(chatResponse(output))
      })
      const statuses: number[] = []
      for (const text of [
        `Open ${WORD}`,
        `Mail ${ADDRESS}`,
        `Please say it to ${ADDRESS}`,
        `Please fail ${ADDRESS}`,
        `Please break ${ADDRESS}`,
      ]) {
        const body = { ...client.body(text), ...(!/gemini|ai-sdk/.test(name) && { stream }) }
        const headers = {
          ...{ 'content-type': 'application/json', ...client.headers },
          ...(name === 'ai-sdk' && { 'ai-language-model-streaming': `${stream}` }),
        }
        const init = { method: 'POST', headers, body: JSON.stringify(body) }
        const response = await gateway.fetch(`http://gateway${client.path(stream)}`, init)
        await response.text()
        statuses.push(response.status)
      }
      assert.is(statuses[0], 400)
      assert.ok(statuses[1] === 200 && statuses[3] !== 200, `${statuses}`)
      assert.ok(upstream.calls.length > 3)
      const text = await read()
      assert.match(text, 'The provider returned the status 500.')
      for (const content of [WORD, ADDRESS]) {
        const index = text.toLowerCase().indexOf(content.toLowerCase())
        assert.is(index, -1, text.slice(Math.max(0, index - 300), index + 60))
      }
    })
