import { formatSseEvent } from '../../../lib/sse.ts'
import { pickFields } from './pick-fields.ts'
import type { RejectionFormat } from './rejection-formats.ts'

/** Rejections in the AI SDK's protocol. */
export const aiSdkRejection: RejectionFormat = {
  writeResponse: (response) => ({
    ...pickFields(response, ['usage', 'warnings', 'response', 'providerMetadata']),
    content: [],
    finishReason: FINISH_REASON,
  }),
  createEnding() {
    const openBlocks = new Map<unknown, string>()
    let isStarted = false
    return {
      observe({ type, id }) {
        isStarted = true
        const [, kind = '', phase] = /^(text|reasoning|tool-input)-(start|end)$/.exec(String(type)) ?? []
        if (phase === 'start') openBlocks.set(id, kind)
        else if (phase === 'end') openBlocks.delete(id)
      },
      end(_, { inputTokens, outputTokens }) {
        const write = (part: object) => formatSseEvent({ event: undefined, data: JSON.stringify(part) })
        const startEvent = isStarted ? '' : write({ type: 'stream-start', warnings: [] })
        const endEvents = [...openBlocks].map(([id, kind]) => write({ type: `${kind}-end`, id }))
        const usage = { inputTokens: { total: inputTokens }, outputTokens: { total: outputTokens } }
        return startEvent + endEvents.join('') + write({ type: 'finish', finishReason: FINISH_REASON, usage })
      },
    }
  },
}

const FINISH_REASON = { unified: 'content-filter', raw: 'content-filter' } as const
