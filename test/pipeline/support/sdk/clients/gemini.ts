import { type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai'
import { getWeather, QUESTION, type Received, weather } from '../conversation.ts'
import { type Client, type CreateClient, listen, MAX_STEPS, type Manner } from './client.ts'

/** Uses `chats`, which stores the conversation itself, including signatures. */
export const createGeminiClient: CreateClient = (fetch) => {
  const client = new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl: 'http://gateway', fetch } })

  const send: Client['send'] = async (model, { stream, signal, onText }) => {
    const requestOptions = { model, contents: QUESTION, config: signal ? { abortSignal: signal } : {} }
    if (!stream) return (await client.models.generateContent(requestOptions)).text ?? ''
    const text = await listen(await client.models.generateContentStream(requestOptions), (chunk) => chunk.text, onText)
    signal?.throwIfAborted() // an aborted stream ends without an error
    return text
  }

  async function converse(model: string, { stream }: Manner): Promise<Received> {
    const { name, description, schema } = weather
    const tools = [{ functionDeclarations: [{ name, description, parametersJsonSchema: schema }] }]
    const chat = client.chats.create({ model, config: { tools } })
    const calls: Received['calls'] = []
    let message: string | Part[] = QUESTION
    for (let step = 0; step < MAX_STEPS; step++) {
      const responses: GenerateContentResponse[] = []
      if (stream) for await (const chunk of await chat.sendMessageStream({ message })) responses.push(chunk)
      else responses.push(await chat.sendMessage({ message }))
      const parts = responses.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
      const called = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
      if (called.length === 0) {
        const text = parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('')
        const counts = responses.at(-1)?.usageMetadata
        return { calls, text, inputTokens: counts?.promptTokenCount, outputTokens: counts?.candidatesTokenCount }
      }
      message = called.map(({ id, name: called = '', args }): Part => {
        calls.push({ name: called, city: args?.city })
        return { functionResponse: { ...(id && { id }), name: called, response: getWeather(args?.city) } }
      })
    }
    throw new Error('the model keeps calling tools')
  }

  return { send, converse }
}
