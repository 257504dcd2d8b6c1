import OpenAI from 'openai'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { getWeather, QUESTION, type Received, weather } from '../conversation.ts'
import { type Client, type CreateClient, listen, MAX_STEPS, type Manner } from './client.ts'

/** Uses `responses` without storage at the provider, so it sends back everything it has received, along with the results. */
export const createResponsesClient: CreateClient = (fetch) => {
  const client = new OpenAI({ baseURL: 'http://gateway/v1', apiKey: 'x', maxRetries: 0, fetch })

  const send: Client['send'] = async (model, { stream, signal, onText }) => {
    const body = { model, input: QUESTION, store: false }
    if (!stream) return (await client.responses.create(body, { signal })).output_text
    const events = client.responses.stream(body, { signal })
    const text = await listen(
      events,
      (event) => (event.type === 'response.output_text.delta' ? event.delta : ''),
      onText,
    )
    const { status } = await events.finalResponse()
    if (status === 'failed') throw new Error(status)
    return text
  }

  async function converse(model: string, { stream }: Manner): Promise<Received> {
    const input: ResponseInput = [{ role: 'user', content: QUESTION }]
    const calls: Received['calls'] = []
    for (let step = 0; step < MAX_STEPS; step++) {
      const { name, description, schema } = weather
      const body = {
        ...{ model, input, store: false, include: ['reasoning.encrypted_content' as const] },
        tools: [{ type: 'function' as const, name, description, parameters: schema, strict: true }],
      }
      const { output, output_text, usage } = stream
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body)
      input.push(...(output as ResponseInput)) // the two types differ only in fields that aren't used here
      const called = output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
      if (called.length === 0)
        return { calls, text: output_text, inputTokens: usage?.input_tokens, outputTokens: usage?.output_tokens }
      for (const call of called) {
        const { city } = JSON.parse(call.arguments)
        calls.push({ name: call.name, city })
        input.push({
          type: 'function_call_output',
          call_id: call.call_id,
          output: JSON.stringify(getWeather(city)),
        })
      }
    }
    throw new Error('the model keeps calling tools')
  }

  return { send, converse }
}
