import { loadFormatErrors } from '../../../src/protocols/formats/load-format-errors.ts'
import { loadReceiveStream } from '../../../src/request/attempt/receive.ts'
import { loadStreamReply } from '../../../src/request/reply/response-reply.ts'

/**
 * Loads everything that the gateway otherwise lazy-loads. A fake clock doesn't wait for files, whose loading time is unpredictable, so tests load all
 * of them before the first request.
 */
export function loadLateParts(): Promise<unknown> {
  loading ??= Promise.all([
    loadFormatErrors(),
    import('../../../src/request/attempt/read-failure.ts'),
    import('../../../src/request/codec/redact-failure.ts'),
    import('../../../src/request/codec/screen-events.ts'),
    import('../../../src/request/attempt/receive-parts.ts'),
    import('../../../src/request/door/models-error-reply.ts'),
    loadReceiveStream(),
    loadStreamReply(),
    import('../../../src/protocols/formats/anthropic-messages/anthropic-one-message.ts'),
    import('../../../src/protocols/formats/gemini/gemini-stream-state.ts'),
    import('../../../src/protocols/formats/openai-chat/chat-stream-state.ts'),
    import('../../../src/protocols/formats/openai-responses/responses-stream-state.ts'),
    import('../../../src/request/choose/group-routing.ts'),
    import('../../../src/request/codec/translating-codec.ts'),
    import('../../../src/request/codec/media-codec.ts'),
    import('../../../src/protocols/formats/openai-chat/chat-translator.ts'),
    import('../../../src/pricing/estimates.ts'),
    import('../../../src/request/codec/usage-request.ts'),
    import('../../../src/protocols/formats/errors/error-advice.ts'),
    import('../../../src/protocols/formats/errors/context-window.ts'),
  ])
  return loading
}

let loading: Promise<unknown> | undefined
