import type { JsonObject } from '../../../../src/lib/json.ts'
import { getOutput } from '../../../pipeline/support/sdk/model-output.ts'
import { fakeUpstream, json, sse } from '../../../pipeline/support/upstream.ts'
import { openWorld } from '../../../pipeline/support/world.ts'
import { vendors } from './vendors.ts'

/* Vendors that run their own tools, called directly with the AI SDK's package for the vendor and through a gateway. */

export type HostFormat = 'openai-responses' | 'anthropic-messages' | 'gemini'

/** Creates a complete and a streamed response with the vendor's own blocks, followed by text. */
export function answerOf(format: HostFormat, content: readonly JsonObject[]): { whole: object; events: string[] } {
  const { whole, events } = getOutput(format, { blocks: [{ type: 'text', text: 'It is 42.' }] })
  const response = Object(whole)
  const data = (event: object) => `data: ${JSON.stringify(event)}\n\n`
  const formatEvent = (event: { type: string; [member: string]: unknown }) => `event: ${event.type}\n${data(event)}`
  switch (format) {
    case 'anthropic-messages': {
      const blocks = content.flatMap((block, index) => {
        const { input, citations } = block
        const start =
          input !== undefined ? { ...block, input: {} } : citations ? { ...block, text: '', citations: [] } : block
        const deltas = [
          ...(input !== undefined ? [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }] : []),
          ...(citations ? [{ type: 'text_delta', text: block.text }] : []),
          ...(Array.isArray(citations) ? citations.map((citation) => ({ type: 'citations_delta', citation })) : []),
        ]
        return [
          formatEvent({ type: 'content_block_start', index, content_block: start }),
          ...deltas.map((delta) => formatEvent({ type: 'content_block_delta', index, delta })),
          formatEvent({ type: 'content_block_stop', index }),
        ]
      })
      const later = events.slice(1).map((event) => event.replace('"index":0', `"index":${content.length}`))
      return {
        whole: { ...response, content: [...content, ...response.content] },
        events: [events[0] ?? '', ...blocks, ...later],
      }
    }
    case 'openai-responses': {
      const items = content.flatMap((item, index) => [
        formatEvent({
          type: 'response.output_item.added',
          output_index: index,
          item: { ...item, status: 'in_progress' },
        }),
        ...(item.code === undefined
          ? []
          : [
              formatEvent({
                type: 'response.code_interpreter_call_code.done',
                output_index: index,
                code: item.code,
                item_id: item.id,
              }),
            ]),
        formatEvent({ type: 'response.output_item.done', output_index: index, item }),
      ])
      const later = events
        .slice(1)
        .map((event) => event.replace('"output_index":0', `"output_index":${content.length}`))
      return {
        whole: { ...response, output: [...content, ...response.output] },
        events: [events[0] ?? '', ...items, ...later],
      }
    }
    case 'gemini':
      return {
        whole: {
          ...response,
          candidates: [
            { ...response.candidates[0], content: { role: 'model', parts: [...content, { text: 'It is 42.' }] } },
          ],
        },
        events: [
          ...content.map((part) => data({ candidates: [{ content: { role: 'model', parts: [part] } }] })),
          ...events,
        ],
      }
  }
}

/** Creates a gateway in front of a vendor that returns this response. */
export async function openBefore(format: HostFormat, response: { whole: object; events: string[] }) {
  const { provider, model } = vendors[format]
  const upstream = fakeUpstream(({ url, body }) =>
    url.pathname.includes(':stream') || JSON.parse(body).stream ? sse(response.events) : json(response.whole),
  )
  const { gateway } = await openWorld({
    fetch: upstream,
    catalog: { [provider]: { baseUrl: 'http://one.test/v1', format, models: [{ id: model }] } },
    connections: [provider],
  })
  return { upstream, name: `${provider}/${model}`, fetch: gateway.fetch }
}
