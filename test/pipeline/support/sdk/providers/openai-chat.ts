import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions'
import { ANSWER, CITIES, THOUGHT, weather } from '../conversation.ts'
import { data, type Provider } from './provider.ts'

const head = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'm' }
const usage = (prompt: number, completion: number, reasoning = 0) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  completion_tokens_details: { reasoning_tokens: reasoning },
})

const chunk = (choices: ChatCompletionChunk['choices'], extra: Partial<ChatCompletionChunk> = {}) =>
  data({ ...head, object: 'chat.completion.chunk', choices, ...extra } satisfies ChatCompletionChunk)
/** Builds a delta. `reasoning_content` isn't OpenAI's, but many vendors with its format use it. */
const delta = (value: ChatCompletionChunk.Choice.Delta & { reasoning_content?: string }) =>
  chunk([{ index: 0, delta: value, finish_reason: null }])
const createFinish = (finish_reason: 'stop' | 'tool_calls') => chunk([{ index: 0, delta: {}, finish_reason }])
const getArguments = (city: string) => JSON.stringify({ city })

/** A Chat Completions provider. It sends reasoning as an extension, and interleaves its calls. */
export const chatProvider: Provider = {
  calls: {
    whole: {
      ...head,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          logprobs: null,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: null,
            refusal: null,
            ...{ reasoning_content: THOUGHT },
            tool_calls: CITIES.map((city, index) => ({
              id: `call_${index}`,
              type: 'function',
              function: { name: weather.name, arguments: getArguments(city) },
            })),
          },
        },
      ],
      usage: usage(20, 30, 10),
    } satisfies ChatCompletion,
    events: [
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: THOUGHT.slice(0, 4) }),
      delta({ reasoning_content: THOUGHT.slice(4) }),
      ...CITIES.map((_, index) =>
        delta({
          tool_calls: [
            { index, id: `call_${index}`, type: 'function', function: { name: weather.name, arguments: '' } },
          ],
        }),
      ),
      ...[0, 5].flatMap((from) =>
        CITIES.map((city, index) => {
          const piece = getArguments(city).slice(from, from === 0 ? 5 : undefined)
          return delta({ tool_calls: [{ index, function: { arguments: piece } }] })
        }),
      ),
      createFinish('tool_calls'),
      chunk([], { usage: usage(20, 30, 10) }),
      'data: [DONE]\n\n',
    ],
  },
  response: {
    whole: {
      ...head,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          logprobs: null,
          finish_reason: 'stop',
          message: { role: 'assistant', content: ANSWER.join(''), refusal: null },
        },
      ],
      usage: usage(50, 12),
    } satisfies ChatCompletion,
    events: [
      delta({ role: 'assistant', content: '' }),
      ...ANSWER.map((content) => delta({ content })),
      createFinish('stop'),
      chunk([], { usage: usage(50, 12) }),
      'data: [DONE]\n\n',
    ],
  },
}
