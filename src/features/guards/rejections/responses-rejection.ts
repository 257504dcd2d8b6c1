import { isObject, type JsonObject } from '../../../lib/json.ts'
import { newId } from '../../../lib/new-id.ts'
import { formatSseEvent } from '../../../lib/sse.ts'
import { pickFields } from './pick-fields.ts'
import type { EndedRequest, RejectionFormat } from './rejection-formats.ts'

const INCOMPLETE_FIELDS = { status: 'incomplete', incomplete_details: { reason: 'content_filter' } } as const

/** Rejections in OpenAI's Responses format. */
export const responsesRejection: RejectionFormat = {
  writeResponse: (response) => ({
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
  #sequenceNumber = -1
  readonly #saveItem: EndedRequest['saveItem']
  readonly #finishedItems: JsonObject[] = []
  /** By output index. */
  readonly #openItems = new Map<unknown, JsonObject>()
  /** By item and content index. */
  readonly #openParts = new Map<string, OpenPart>()

  constructor({ model, now, saveItem }: EndedRequest) {
    this.#saveItem = saveItem
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
      sequence_number: sequenceNumber,
      response,
      output_index: outputIndex,
      item,
      content_index: contentIndex,
      item_id: itemId,
    } = event
    if (typeof sequenceNumber === 'number') this.#sequenceNumber = sequenceNumber
    if (isObject(response)) {
      this.#response = response
      this.#isStarted = true
    }
    if (type === 'response.output_item.added' && isObject(item)) this.#openItems.set(outputIndex, item)
    if (type === 'response.output_item.done' && isObject(item)) {
      this.#openItems.delete(outputIndex)
      this.#finishedItems.push(item)
      this.#saveItem(item)
    }
    const partKey = `${outputIndex} ${contentIndex}`
    if (type === 'response.content_part.added' && isObject(event.part))
      this.#openParts.set(partKey, {
        type: event.part.type === 'refusal' ? 'refusal' : 'output_text',
        fields: { item_id: itemId, output_index: outputIndex, content_index: contentIndex },
        text: '',
      })
    if (type === 'response.content_part.done') this.#openParts.delete(partKey)
    const openPart = this.#openParts.get(partKey)
    if (openPart && typeof event.delta === 'string') openPart.text += event.delta
  }

  end(_: unknown, { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }): string {
    let events = ''
    const write = (type: string, fields: JsonObject) => {
      const data = JSON.stringify({ type, sequence_number: ++this.#sequenceNumber, ...fields })
      events += formatSseEvent({ event: type, data })
    }
    if (!this.#isStarted) write('response.created', { response: this.#response })
    const contentByOutputIndex = new Map<unknown, JsonObject[]>()
    for (const { type, fields, text } of this.#openParts.values()) {
      const field = type === 'refusal' ? 'refusal' : 'text'
      const part = { type, [field]: text, ...(type === 'output_text' && { annotations: [], logprobs: [] }) }
      write(`response.${type}.done`, { ...fields, [field]: text, ...(type === 'output_text' && { logprobs: [] }) })
      write('response.content_part.done', { ...fields, part })
      contentByOutputIndex.set(fields.output_index, [...(contentByOutputIndex.get(fields.output_index) ?? []), part])
    }
    for (const [outputIndex, openItem] of this.#openItems) {
      const content = contentByOutputIndex.get(outputIndex)
      const item = { ...openItem, ...(content && { content }), status: 'incomplete' }
      write('response.output_item.done', { output_index: outputIndex, item })
      this.#finishedItems.push(item)
      this.#saveItem(item)
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
