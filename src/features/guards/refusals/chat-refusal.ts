import { isObject, type JsonObject } from '../../../lib/json.ts'
import { formatSseEvent } from '../../../lib/sse.ts'
import { pickFields } from './pick-fields.ts'
import type { RefusalFormat } from './refusal-formats.ts'

/** Chat Completions, and text completions, whose choices have a `text` instead of a `message`. */
export const chatRefusal: RefusalFormat = {
  writeWhole(answer, _, refused) {
    const choices = toObjects(answer.choices)
    return {
      ...pickFields(answer, ['id', 'object', 'created', 'model', 'usage', 'service_tier']),
      choices: choices.map((choice, at) => (refused && !refused.has(at) ? choice : refuseChoice(choice, at))),
    }
  },
  createEnding() {
    let head: JsonObject = { object: 'chat.completion.chunk' }
    let isText = false
    let wantsUsage = false
    const open = new Set<number>([0])
    return {
      observe(event) {
        head = { ...head, ...pickFields(event, ['id', 'object', 'created', 'model', 'service_tier']) }
        wantsUsage ||= event.usage !== undefined
        for (const { index = 0, finish_reason: reason, text } of toObjects(event.choices)) {
          isText ||= typeof text === 'string'
          if (reason) open.delete(Number(index))
          else open.add(Number(index))
        }
      },
      end(_, { inputTokens, outputTokens }) {
        const write = (fields: JsonObject) =>
          formatSseEvent({ event: undefined, data: JSON.stringify({ ...head, ...fields }) })
        const content = isText ? { text: '' } : { delta: {} }
        const choices = [...open].map((index) =>
          write({
            choices: [{ index, ...content, logprobs: null, finish_reason: 'content_filter' }],
            ...(wantsUsage && { usage: null }),
          }),
        )
        const usage = {
          prompt_tokens: inputTokens,
          completion_tokens: outputTokens,
          total_tokens: inputTokens + outputTokens,
        }
        return `${choices.join('')}${wantsUsage ? write({ choices: [], usage }) : ''}data: [DONE]\n\n`
      },
    }
  },
}

function refuseChoice(choice: JsonObject, at: number): JsonObject {
  const content = 'text' in choice ? { text: '' } : { message: { role: 'assistant', content: null, refusal: null } }
  return { index: choice.index ?? at, ...content, logprobs: null, finish_reason: 'content_filter' }
}

const toObjects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
