import Anthropic from '@anthropic-ai/sdk'
import type { MessageParam, ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages'
import { getWeather, QUESTION, type Received, weather } from '../conversation.ts'
import { type Client, type CreateClient, listen, MAX_STEPS, type Manner } from './client.ts'

/** Uses `messages`, and sends the assistant's content back unchanged. */
export const createMessagesClient: CreateClient = (fetch) => {
  const client = new Anthropic({ baseURL: 'http://gateway', apiKey: 'x', maxRetries: 0, fetch })

  const send: Client['send'] = async (model, { stream, signal, onText }) => {
    const body = { model, max_tokens: 1_000, messages: [{ role: 'user' as const, content: QUESTION }] }
    const getText = (block: { type: string; text?: string }) => (block.type.startsWith('text') ? block.text : '')
    if (!stream) return (await client.messages.create(body, { signal })).content.map(getText).join('')
    const events = client.messages.stream(body, { signal })
    const text = await listen(
      events,
      (event) => (event.type === 'content_block_delta' ? getText(event.delta) : ''),
      onText,
    )
    await events.finalMessage()
    return text
  }

  async function converse(model: string, { stream }: Manner): Promise<Received> {
    const messages: MessageParam[] = [{ role: 'user', content: QUESTION }]
    const calls: Received['calls'] = []
    for (let step = 0; step < MAX_STEPS; step++) {
      const { name, description, schema } = weather
      const body = { model, messages, max_tokens: 1_000, tools: [{ name, description, input_schema: schema }] }
      const { content, stop_reason, usage } = stream
        ? await client.messages.stream(body).finalMessage()
        : await client.messages.create(body)
      messages.push({ role: 'assistant', content })
      if (stop_reason !== 'tool_use') {
        const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
        return { calls, text, inputTokens: usage.input_tokens, outputTokens: usage.output_tokens }
      }
      const results = content.flatMap((block): ToolResultBlockParam[] => {
        if (block.type !== 'tool_use') return []
        const { city } = Object(block.input)
        calls.push({ name: block.name, city })
        return [{ type: 'tool_result', tool_use_id: block.id, content: JSON.stringify(getWeather(city)) }]
      })
      messages.push({ role: 'user', content: results })
    }
    throw new Error('the model keeps calling tools')
  }

  return { send, converse }
}
