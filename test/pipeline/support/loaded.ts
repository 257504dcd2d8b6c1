/**
 * What the gateway loads when a request needs it. Tests that move time do not wait for files, which take as long as the machine likes:
 * here all of it is read once, before the first request.
 */
export function loadLateParts(): Promise<unknown> {
  loading ??= Promise.all([
    import('../../../src/pipeline/targets/groups.ts'),
    import('../../../src/codec/translated.ts'),
    import('../../../src/codec/media.ts'),
    import('../../../src/formats/openai-chat/translator.ts'),
    import('../../../src/usage/estimates.ts'),
    import('../../../src/codec/usage-request.ts'),
  ])
  return loading
}

let loading: Promise<unknown> | undefined
