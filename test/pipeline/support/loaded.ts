/**
 * What the gateway loads when a request needs it. Tests that move time do not wait for files, which take as long as the machine likes:
 * here all of it is read once, before the first request.
 */
export function loadLateParts(): Promise<unknown> {
  loading ??= Promise.all([
    import('../../../src/request/choose/group-routing.ts'),
    import('../../../src/request/codec/translating-codec.ts'),
    import('../../../src/request/codec/media-codec.ts'),
    import('../../../src/protocols/formats/openai-chat/chat-translator.ts'),
    import('../../../src/pricing/estimates.ts'),
    import('../../../src/request/codec/usage-request.ts'),
  ])
  return loading
}

let loading: Promise<unknown> | undefined
