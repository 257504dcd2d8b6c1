import { getTexts, type ModerationAdapter, readModeration } from '../moderation-vendor.ts'

const MODERATIONS_PATH = '/moderations'

/** OpenAI-compatible servers. */
export const openaiCompatible: ModerationAdapter = {
  name: 'compatible',
  passThrough: [{ client: 'openai', path: () => MODERATIONS_PATH }],
  writeRequest: (request, { target: { model } }) => ({
    path: MODERATIONS_PATH,
    body: { model, input: getTexts(request) },
  }),
  readResponse: (json, request) => readModeration(json, request),
}

/** OpenAI. Its moderation is free and doesn't report tokens. https://platform.openai.com/docs/api-reference/moderations */
export const openai: ModerationAdapter = {
  ...openaiCompatible,
  name: 'openai',
  providers: ['openai'],
  readResponse(json, request) {
    const response = readModeration(json, request)
    return typeof response === 'string' ? response : { usage: { inputTokens: 0, outputTokens: 0 }, ...response }
  },
}
