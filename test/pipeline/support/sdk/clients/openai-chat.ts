import OpenAI from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { getWeather, QUESTION, type Received, weather } from '../conversation.ts'
import { type Client, type CreateClient, listen, MAX_STEPS } from './client.ts'

const { name, description, schema } = weather
const definition = { name, description, parameters: schema }

/** Uses `chat.completions`. When streaming, the client itself runs the tools. */
export const createChatClient: CreateClient = (fetch) => {
  const client = new OpenAI({ baseURL: 'http://gateway/v1', apiKey: 'x', maxRetries: 0, fetch })

  const send: Client['send'] = async (model, { stream, signal, onText }) => {
    const body = { model, messages: [{ role: 'user' as const, content: QUESTION }] }
    if (!stream) return (await client.chat.completions.create(body, { signal })).choices[0]?.message.content ?? ''
    const chunks = client.chat.completions.stream(body, { signal })
    const text = await listen(chunks, ({ choices }) => choices[0]?.delta.content ?? '', onText)
    await chunks.done() // report errors that ended the iteration
    return text
  }

  return { send, converse: (model, { stream }) => (stream ? runTools(client, model) : create(client, model)) }
}

async function create(client: OpenAI, model: string): Promise<Received> {
  const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: QUESTION }]
  const calls: Received['calls'] = []
  for (let step = 0; step < MAX_STEPS; step++) {
    const tools = [{ type: 'function' as const, function: definition }]
    const { choices, usage } = await client.chat.completions.create({ model, messages, tools })
    const [choice] = choices
    if (!choice) throw new Error('there is no choice')
    messages.push(choice.message)
    if (choice.finish_reason !== 'tool_calls')
      return {
        calls,
        text: choice.message.content ?? '',
        inputTokens: usage?.prompt_tokens,
        outputTokens: usage?.completion_tokens,
      }
    for (const call of choice.message.tool_calls ?? []) {
      if (call.type !== 'function') continue
      const { city } = JSON.parse(call.function.arguments)
      calls.push({ name: call.function.name, city })
      messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(getWeather(city)) })
    }
  }
  throw new Error('the model keeps calling tools')
}

async function runTools(client: OpenAI, model: string): Promise<Received> {
  const calls: Received['calls'] = []
  const run = client.chat.completions.runTools({
    model,
    messages: [{ role: 'user', content: QUESTION }],
    stream: true,
    stream_options: { include_usage: true },
    tools: [
      {
        type: 'function',
        function: {
          ...definition,
          parse: JSON.parse,
          function: ({ city }: { city: unknown }) => {
            calls.push({ name, city })
            return getWeather(city)
          },
        },
      },
    ],
  })
  const { choices, usage } = await run.finalChatCompletion()
  return {
    calls,
    text: choices[0]?.message.content ?? '',
    inputTokens: usage?.prompt_tokens,
    outputTokens: usage?.completion_tokens,
  }
}
