import OpenAI from 'openai'
import { createGateway } from 'signalbox'

/** An app with an embedded gateway. Tests pass it an in-memory `storage` and a `fetch` that mocks the providers. */
export async function openApp({ storage, fetch }) {
  const gateway = createGateway({ storage, ...(fetch && { fetch }) })
  await gateway.api.connections.put({ id: 'openai', provider: 'openai', apiKey: process.env.OPENAI_API_KEY })
  await gateway.api.connections.put({ id: 'anthropic', provider: 'anthropic', apiKey: process.env.ANTHROPIC_API_KEY })
  await gateway.api.combos.put({ name: 'writer', models: ['openai/gpt-5-mini', 'anthropic/claude-haiku-4-5'] })
  const { key } = await gateway.api.keys.put({ name: 'app' })
  await gateway.api.settings.update({ requireApiKey: true })

  // A client in the same process doesn't need a port.
  const client = new OpenAI({ baseURL: 'http://gateway/v1', apiKey: key.key, fetch: gateway.fetch, maxRetries: 0 })

  return {
    gateway,
    /** Summarizes a text. Yields the summary in chunks, as the model writes it. */
    async *summarize(text) {
      const messages = [{ role: 'user', content: `Summarize in one sentence: ${text}` }]
      const stream = await client.chat.completions.create({ model: 'writer', stream: true, messages })
      for await (const { choices } of stream) if (choices[0]?.delta.content) yield choices[0].delta.content
    },
    close: () => gateway.close(),
  }
}
