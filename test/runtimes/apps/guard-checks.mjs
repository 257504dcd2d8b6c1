import { createGateway } from 'signalbox'
import { pii, words } from 'signalbox/guards'
import { memoryStorage } from 'signalbox/storage/memory'

const encoder = new TextEncoder()
const chunk = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

/** A provider that echoes the last prompt, letter by letter when streaming, or sends a blocked word. */
async function callProvider(_, { body }) {
  const { stream, messages } = JSON.parse(typeof body === 'string' ? body : await new Response(body).text())
  const prompt = messages.at(-1).content
  const said = prompt.startsWith('secret') ? 'One. SESAME opens it.' : prompt
  if (!stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }]
    return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices })
  }
  const events = [chunk({ role: 'assistant', content: '' }), ...[...said].map((content) => chunk({ content }))]
  const bytes = encoder.encode(`${events.join('')}${chunk({}, 'stop')}data: [DONE]\n\n`)
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) => bytes.slice(at * 7, at * 7 + 7))
  const stream7 = new ReadableStream({
    pull(controller) {
      const piece = pieces.shift()
      if (piece) controller.enqueue(piece)
      else controller.close()
    },
  })
  return new Response(stream7, { headers: { 'content-type': 'text/event-stream' } })
}

/** Sends requests through guards in the runtime, without a server. Returns what the clients receive. */
export async function checkGuards() {
  const gateway = createGateway({
    storage: memoryStorage(),
    logger: false,
    fetch: callProvider,
    guards: [
      words({ name: 'words', words: ['sesame'] }),
      pii({ name: 'personal-data', types: ['email'], action: 'mask' }),
      {
        name: 'own',
        on: ['request'],
        check: async ({ parts }) =>
          parts.some(({ text }) => text.includes('own')) ? { verdict: 'refuse' } : undefined,
      },
    ],
    connections: { one: { apiKey: 'k', baseUrl: 'https://one.test/v1' } },
  })
  const say = async (content, stream, headers = {}) => {
    const response = await gateway.fetch(
      new Request('http://gateway/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'one/m', stream, messages: [{ role: 'user', content }] }),
      }),
    )
    const text = await response.text()
    const said = [...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('')
    const finish = /"finish_reason":"(\w+)"/.exec(text)?.[1]
    return [response.status, said, finish ?? null, response.headers.get('x-signalbox-guards')]
  }
  const outcome = {
    word: await say('Say Ｓ\u200bESAME', false),
    own: await say('own', true),
    whole: await say('secret', false),
    stream: await say('secret', true),
    mask: await say('Write to ann@example.com', false),
    'mask in a stream': await say('Write to ann@example.com', true),
  }
  await gateway.close()
  return outcome
}
