import { createGateway } from 'signalbox'
import { createSignalbox } from 'signalbox/ai'
import { memoryStorage } from 'signalbox/storage/memory'

/* Calls each `signalbox/ai` model once, in-process, through a gateway with a mock provider. Prints the responses as text. */

const base64 = (text) => btoa(text)
const json = (value) => new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json' } })
const chunk = (delta, more = {}) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }

/** Mocks an OpenAI-format provider. */
async function provider(url, { body, signal } = {}) {
  signal?.throwIfAborted()
  const { pathname } = new URL(url)
  if (pathname.endsWith('/embeddings')) return json({ data: [{ index: 0, embedding: [0.5, 1] }], usage })
  if (pathname.endsWith('/rerank')) return json({ results: [{ index: 1, relevance_score: 0.9 }] })
  if (pathname.endsWith('/images/generations')) return json({ data: [{ b64_json: base64('image') }] })
  if (pathname.endsWith('/audio/speech')) return new Response('sound', { headers: { 'content-type': 'audio/mpeg' } })
  if (pathname.endsWith('/audio/transcriptions')) return json({ text: 'heard' })
  const { stream, model, max_tokens } = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body))
  if (model.startsWith('broken')) return new Response('{"error":{"message":"It broke."}}', { status: 503 })
  if (!stream) {
    const message = { role: 'assistant', content: max_tokens === undefined ? 'Hello' : `Hello ${max_tokens}` }
    return json({ id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
  }
  const events = [
    chunk({ content: 'Hel' }),
    chunk({ content: 'lo' }),
    chunk({}, { finish_reason: 'stop' }),
    'data: [DONE]\n\n',
  ]
  return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
}

export async function askAll() {
  const gateway = createGateway({ storage: memoryStorage(), logger: false, fetch: provider })
  await gateway.api.connections.create({
    provider: 'openai-compatible-test',
    name: 'test',
    apiKey: 'k',
    providerSpecificData: { prefix: 'test', baseUrl: 'http://upstream.test/v1' },
  })
  const answers = {}
  for (const specification of ['v4', 'v3']) {
    const signalbox = createSignalbox(gateway, { specification })
    const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]
    const { content } = await signalbox('test/m').doGenerate({ prompt })
    const { stream } = await signalbox('test/m').doStream({ prompt })
    const deltas = []
    for await (const part of stream) if (part.type === 'text-delta') deltas.push(part.delta)
    const { embeddings } = await signalbox.embeddingModel('test/e').doEmbed({ values: ['Hi'] })
    const documents = { type: 'text', values: ['a', 'b'] }
    const { ranking } = await signalbox.rerankingModel('test/r').doRerank({ query: 'b', documents })
    const { images } = await signalbox.imageModel('test/i').doGenerate({ prompt: 'a walk', n: 1 })
    const { audio } = await signalbox.speechModel('test/s').doGenerate({ text: 'Hi' })
    const sound = { audio: new TextEncoder().encode('wave'), mediaType: 'audio/wav' }
    const { text } = await signalbox.transcriptionModel('test/t').doGenerate(sound)
    const leave = AbortSignal.abort(new Error('left'))
    const left = await signalbox
      .imageModel('test/i')
      .doGenerate({ prompt: 'a', n: 1, abortSignal: leave })
      .catch(String)
    const refused = await signalbox
      .imageModel('test/i')
      .doGenerate({ prompt: 'a', n: 99 })
      .catch((error) => error)
    const broken = (nth) => `test/broken-${specification}-${nth}` // a failed model goes into cooldown
    const careful = signalbox([broken(1), { model: 'test/m', params: { maxTokens: 7 } }])
    const listed = [
      await careful.doGenerate({ prompt }),
      await signalbox('test/m').doGenerate({
        prompt,
        providerOptions: { signalbox: { models: [broken(2), 'test/m'], params: { maxTokens: 8 } } },
      }),
    ]
    const held = await signalbox([broken(3), 'test/m'], { on: ['content'] }).doStream({ prompt })
    const kinds = []
    for await (const { type } of held.stream) kinds.push(type)
    answers[specification] = {
      texts: [content[0].text, deltas.join(''), atob(images[0]), atob(audio), text],
      numbers: [embeddings[0], ranking[0].index],
      errors: [left, refused.name, refused.statusCode],
      lists: listed.map(({ content, providerMetadata }) => [
        content[0].text,
        ...providerMetadata.signalbox.attempts.map(({ status }) => status),
      ]),
      ends: kinds.at(-1),
    }
  }
  await gateway.close()
  return answers
}
