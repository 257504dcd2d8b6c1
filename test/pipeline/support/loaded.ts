/**
 * What the gateway loads when a request needs it. Tests that move time do not wait for files, which take as long as the machine likes:
 * here all of it is read once, before the first request.
 */
export function loadLateParts(): Promise<unknown> {
  loading ??= Promise.all([
    import('../../../src/pipeline/choosing.ts'),
    import('../../../src/pipeline/failed-events.ts'),
    import('../../../src/pipeline/fetch-media.ts'),
    import('../../../src/pipeline/gathered.ts'),
    import('../../../src/pipeline/hedge.ts'),
    import('../../../src/pipeline/last-candidates.ts'),
    import('../../../src/pipeline/last-event.ts'),
    import('../../../src/pipeline/mislabelled.ts'),
    import('../../../src/pipeline/nobody-answered.ts'),
    import('../../../src/pipeline/client-timeout.ts'),
    import('../../../src/pipeline/redact.ts'),
    import('../../../src/pipeline/refused.ts'),
    import('../../../src/pipeline/keep-alive.ts'),
    import('../../../src/pipeline/unasked-events.ts'),
    import('../../../src/pipeline/unknown-model.ts'),
    import('../../../src/pipeline/usage-question.ts'),
    import('../../../src/formats/anthropic-messages/error.ts'),
    import('../../../src/formats/gemini/error.ts'),
    import('../../../src/formats/openai-chat/error.ts'),
    import('../../../src/formats/openai-chat/translator.ts'),
    import('../../../src/formats/openai-chat/usage-question.ts'),
    import('../../../src/formats/openai-responses/error.ts'),
    import('../../../src/http/route-patterns.ts'),
    import('../../../src/upstream/broken-call.ts'),
  ])
  return loading
}

let loading: Promise<unknown> | undefined
