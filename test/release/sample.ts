/**
 * A program that embeds a gateway: it creates connections and a combo whose first target fails, sends requests over HTTP and with the AI SDK, and
 * prints the results. It uses only what all runtimes support.
 */
export const SAMPLE = `import { createGateway } from 'signalbox'
import { createSignalbox } from 'signalbox/ai'
import { createClient } from 'signalbox/client'
import { dashboard } from 'signalbox/dashboard'
import { otel } from 'signalbox/otel'
import { prometheus } from 'signalbox/prometheus'
import { memoryStorage } from 'signalbox/storage/memory'

export async function ask() {
  let calls = 0
  const upstream = async () => {
    if (++calls === 1) return Response.json({ error: { message: 'overloaded' } }, { status: 503 })
    const message = { role: 'assistant', content: 'Hello' }
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    return Response.json({ id: 'a', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
  }
  const token = 'a-token-of-thirty-two-characters-or-more'
  const options = { storage: memoryStorage(), fetch: upstream, logger: false, management: { token }, dashboard: dashboard(), observe: [prometheus()] }
  const gateway = createGateway(options)
  const client = createClient({ baseUrl: 'http://gateway.test', token, fetch: (input, init) => gateway.fetch(new Request(input, init)) })
  await client.connections.create({ provider: 'openai', apiKey: 'sk-of-the-sample' })
  await client.connections.create({ provider: 'groq', apiKey: 'gsk-of-the-sample' })
  await client.combos.create({ name: 'fast', models: ['openai/gpt-5-mini', 'groq/llama-3.3-70b-versatile'] })
  const body = JSON.stringify({ model: 'fast', messages: [{ role: 'user', content: 'Hello' }] })
  const headers = { 'content-type': 'application/json' }
  const response = await gateway.fetch(new Request('http://gateway.test/v1/chat/completions', { method: 'POST', headers, body }))
  const answer = await response.json()
  const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }]
  const { content } = await createSignalbox(gateway).languageModel('fast').doGenerate({ prompt })
  const page = await gateway.fetch(new Request('http://gateway.test/admin/'))
  await gateway.close()
  return [response.status, answer.choices[0].message.content, response.headers.get('x-signalbox-target'), content[0].text, page.status, typeof otel].join(' ')
}
`

const EXPECTED = '200 Hello groq/llama-3.3-70b-versatile Hello 200 function'

/** The same code as a standalone program. */
export const PROGRAM = `${SAMPLE}\nconsole.log(await ask())\n`

/** Throws unless the program has printed the expected result. */
export function expect(content: string): void {
  if (content.trim() !== EXPECTED) throw new Error(`it answers ${content.trim()}, not ${EXPECTED}`)
}
