import { isObject, type JsonObject } from '../../../lib/json.ts'
import { newId } from '../../../lib/new-id.ts'
import { formatSseEvent } from '../../../lib/sse.ts'
import { pickFields } from './pick-fields.ts'
import type { EndedRequest, RejectionFormat } from './rejection-formats.ts'

const INCOMPLETE_FIELDS = { status: 'incomplete', incomplete_details: { reason: 'content_filter' } } as const

/** Rejections in OpenAI's Responses format. */
export const responsesRejection: RejectionFormat = {
  writeWhole: (response) => ({
    ...pickFields(response, [
      'id',
      'object',
      'created_at',
      'model',
      'usage',
      'store',
      'parallel_tool_calls',
      'tool_choice',
    ]),
    ...{ tools: response.tools ?? [], metadata: response.metadata ?? {}, instructions: null, error: null },
    ...{ temperature: response.temperature ?? null, top_p: response.top_p ?? null },
    output: [],
    ...INCOMPLETE_FIELDS,
  }),
  createEnding: (request) => new ResponsesEnding(request),
}

/** A message's content part or a call's arguments, with the text that the client has received so far. */
interface OpenPart {
  type: string
  fields: JsonObject
  text: string
}

class ResponsesEnding {
  #response: JsonObject
  #isStarted = false
  #sequence = -1
  readonly #keepItem: EndedRequest['keepItem']
  readonly #finishedItems: JsonObject[] = []
  /** By output index. */
  readonly #items = new Map<unknown, JsonObject>()
  /** By item and content index. */
  readonly #texts = new Map<string, OpenPart>()

  constructor({ model, now, keepItem }: EndedRequest) {
    this.#keepItem = keepItem
    this.#response = {
      ...{
        id: `resp_${newId()}`,
        object: 'response',
        created_at: Math.floor(now / 1_000),
        model,
        status: 'in_progress',
      },
      ...{ error: null, incomplete_details: null, instructions: null, metadata: {}, output: [], tools: [] },
      ...{ parallel_tool_calls: true, tool_choice: 'auto', temperature: null, top_p: null },
    }
  }

  observe(event: JsonObject): void {
    const {
      type,
      sequence_number: number,
      response,
      output_index: outputIndex,
      item,
      content_index: part,
      item_id: id,
    } = event
    if (typeof number === 'number') this.#sequence = number
    if (isObject(response)) {
      this.#response = response
      this.#isStarted = true
    }
    if (type === 'response.output_item.added' && isObject(item)) this.#items.set(outputIndex, item)
    if (type === 'response.output_item.done' && isObject(item)) {
      this.#items.delete(outputIndex)
      this.#finishedItems.push(item)
      this.#keepItem(item)
    }
    const key = `${outputIndex} ${part}`
    if (type === 'response.content_part.added' && isObject(event.part))
      this.#texts.set(key, {
        type: event.part.type === 'refusal' ? 'refusal' : 'output_text',
        fields: { item_id: id, output_index: outputIndex, content_index: part },
        text: '',
      })
    if (type === 'response.content_part.done') this.#texts.delete(key)
    const text = this.#texts.get(key)
    if (text && typeof event.delta === 'string') text.text += event.delta
  }

  end(_: unknown, { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }): string {
    let events = ''
    const write = (type: string, fields: JsonObject) => {
      const data = JSON.stringify({ type, sequence_number: ++this.#sequence, ...fields })
      events += formatSseEvent({ event: type, data })
    }
    if (!this.#isStarted) write('response.created', { response: this.#response })
    const contents = new Map<unknown, JsonObject[]>()
    for (const { type, fields, text } of this.#texts.values()) {
      const field = type === 'refusal' ? 'refusal' : 'text'
      const part = { type, [field]: text, ...(type === 'output_text' && { annotations: [], logprobs: [] }) }
      write(`response.${type}.done`, { ...fields, [field]: text, ...(type === 'output_text' && { logprobs: [] }) })
      write('response.content_part.done', { ...fields, part })
      contents.set(fields.output_index, [...(contents.get(fields.output_index) ?? []), part])
    }
    for (const [outputIndex, open] of this.#items) {
      const content = contents.get(outputIndex)
      const item = { ...open, ...(content && { content }), status: 'incomplete' }
      write('response.output_item.done', { output_index: outputIndex, item })
      this.#finishedItems.push(item)
      this.#keepItem(item)
    }
    const usage = {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
    }
    write('response.incomplete', {
      response: { ...this.#response, ...INCOMPLETE_FIELDS, output: this.#finishedItems, usage },
    })
    return events
  }
}
