import type { Response, ResponseOutputItem, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { ANSWER, CITIES, SIGNATURE, THOUGHT, weather } from '../conversation.ts'
import { formatEvent, type ModelOutput, type Provider } from './provider.ts'

const getUsage = (input: number, output: number) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + output,
})

/** A response without the fields that the client itself adds. */
type Wire = Omit<Response, 'output_text' | 'access_programs'>

const response = (output: ResponseOutputItem[], usage: Response['usage']) =>
  ({
    id: 'resp_1',
    object: 'response',
    created_at: 1_790_000_000,
    status: usage ? 'completed' : 'in_progress',
    model: 'm',
    output,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    top_p: 1,
    tool_choice: 'auto',
    tools: [],
    ...(usage && { usage }),
  }) satisfies Wire

/** An event without its sequence number, which is added at the end. */
type Unnumbered<T> = T extends { response: Response }
  ? Omit<T, 'sequence_number' | 'response'> & { response: Wire }
  : Omit<T, 'sequence_number'>
type Event = ResponseStreamEvent extends infer T ? (T extends unknown ? Unnumbered<T> : never) : never

/** Builds the complete response, and the same response as events. */
function modelOutput(output: ResponseOutputItem[], [input, out]: [number, number]): ModelOutput {
  const full = response(output, getUsage(input, out))
  const started = response([], undefined)
  const events: Event[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...output.flatMap(getEvents),
    { type: 'response.completed', response: full },
  ]
  return { whole: full, events: events.map((event, sequence_number) => formatEvent({ ...event, sequence_number })) }
}

function getEvents(item: ResponseOutputItem, output_index: number): Event[] {
  const createItemAdded = (empty: ResponseOutputItem): Event => ({
    type: 'response.output_item.added',
    output_index,
    item: empty,
  })
  const done: Event = { type: 'response.output_item.done', output_index, item }
  switch (item.type) {
    case 'reasoning': {
      const [{ text } = { text: '' }] = item.summary
      const at = { item_id: item.id, output_index, summary_index: 0 }
      return [
        createItemAdded({ ...item, summary: [], encrypted_content: null }),
        { type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } },
        { type: 'response.reasoning_summary_text.delta', ...at, delta: text.slice(0, 4) },
        { type: 'response.reasoning_summary_text.delta', ...at, delta: text.slice(4) },
        { type: 'response.reasoning_summary_text.done', ...at, text },
        { type: 'response.reasoning_summary_part.done', ...at, part: { type: 'summary_text', text } },
        done,
      ]
    }
    case 'function_call': {
      const at = { item_id: item.id ?? '', output_index }
      return [
        createItemAdded({ ...item, arguments: '', status: 'in_progress' }),
        { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments.slice(0, 5) },
        { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments.slice(5) },
        { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
        done,
      ]
    }
    case 'message': {
      const at = { item_id: item.id, output_index, content_index: 0 }
      const part = (text: string) => ({ type: 'output_text' as const, text, annotations: [], logprobs: [] })
      return [
        createItemAdded({ ...item, content: [], status: 'in_progress' }),
        { type: 'response.content_part.added', ...at, part: part('') },
        ...ANSWER.map((delta): Event => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
        { type: 'response.output_text.done', ...at, text: ANSWER.join(''), logprobs: [] },
        { type: 'response.content_part.done', ...at, part: part(ANSWER.join('')) },
        done,
      ]
    }
    default:
      throw new TypeError(`no events for ${item.type}`)
  }
}

/** A Responses provider that stores nothing. It sends encrypted reasoning. */
export const responsesProvider: Provider = {
  calls: modelOutput(
    [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: THOUGHT }],
        encrypted_content: SIGNATURE,
      },
      ...CITIES.map(
        (city, index): ResponseOutputItem => ({
          type: 'function_call',
          id: `fc_${index}`,
          call_id: `call_${index}`,
          name: weather.name,
          arguments: JSON.stringify({ city }),
          status: 'completed',
        }),
      ),
    ],
    [20, 30],
  ),
  response: modelOutput(
    [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: ANSWER.join(''), annotations: [], logprobs: [] }],
      },
    ],
    [50, 12],
  ),
}
