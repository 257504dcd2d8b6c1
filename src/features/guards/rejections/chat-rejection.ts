import { isObject, type JsonObject } from '../../../lib/json.ts'
import { newId } from '../../../lib/new-id.ts'
import { formatSseEvent } from '../../../lib/sse.ts'
import { pickFields } from './pick-fields.ts'
import type { RejectionFormat } from './rejection-formats.ts'

/** Rejections in Chat Completions and in text completions, whose choices have a `text` instead of a `message`. */
export const chatRejection: RejectionFormat = {
  writeResponse(response, _, rejectedChoices) {
    const choices = toObjects(response.choices)
    return {
      ...pickFields(response, ['id', 'object', 'created', 'model', 'usage', 'service_tier']),
      choices: choices.map((choice, index) =>
        rejectedChoices && !rejectedChoices.has(index) ? choice : rejectChoice(choice, index),
      ),
    }
  },
  createEnding({ body: { stream_options: options }, model, now }) {
    const shouldIncludeUsage = isObject(options) && options.include_usage === true
    const [id, created] = [`chatcmpl-${newId()}`, Math.floor(now / 1_000)]
    let chunkFields: JsonObject = { id, object: 'chat.completion.chunk', created, model }
    let isTextCompletion = false
    const openChoices = new Set<number>([0])
    const startedChoices = new Set<number>()
    const endChoice = (index: number): JsonObject => ({
      ...chunkFields,
      choices: [
        {
          index,
          ...(isTextCompletion ? { text: '' } : { delta: startedChoices.has(index) ? {} : START_DELTA }),
          logprobs: null,
          finish_reason: 'content_filter',
        },
      ],
      ...(shouldIncludeUsage && { usage: null }),
    })
    return {
      endChoice,
      observe(event) {
        chunkFields = { ...chunkFields, ...pickFields(event, ['id', 'object', 'created', 'model', 'service_tier']) }
        for (const { index = 0, finish_reason: reason, text } of toObjects(event.choices)) {
          startedChoices.add(Number(index))
          isTextCompletion ||= typeof text === 'string'
          if (reason) openChoices.delete(Number(index))
          else openChoices.add(Number(index))
        }
      },
      end(_, { inputTokens, outputTokens }) {
        const write = (json: JsonObject) => formatSseEvent({ event: undefined, data: JSON.stringify(json) })
        const choiceEvents = [...openChoices].map((index) => write(endChoice(index)))
        const usage = {
          prompt_tokens: inputTokens,
          completion_tokens: outputTokens,
          total_tokens: inputTokens + outputTokens,
        }
        return `${choiceEvents.join('')}${shouldIncludeUsage ? write({ ...chunkFields, choices: [], usage }) : ''}data: [DONE]\n\n`
      },
    }
  },
}

const START_DELTA = { role: 'assistant', content: '' }

function rejectChoice(choice: JsonObject, index: number): JsonObject {
  const content = 'text' in choice ? { text: '' } : { message: { role: 'assistant', content: null, refusal: null } }
  return { index: choice.index ?? index, ...content, logprobs: null, finish_reason: 'content_filter' }
}

const toObjects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
