import { type ModerationForm, moderationIn, textsOf } from '../vendor.ts'

const PATH = '/moderations'

/** Servers that speak like OpenAI. */
export const compatible: ModerationForm = {
  name: 'compatible',
  passes: [{ client: 'openai', path: () => PATH }],
  request: (asked, { target: { model } }) => ({ path: PATH, body: { model, input: textsOf(asked) } }),
  answer: (json, asked) => moderationIn(json, asked),
}

/** OpenAI, which charges nothing and counts no tokens. https://platform.openai.com/docs/api-reference/moderations */
export const openai: ModerationForm = {
  ...compatible,
  name: 'openai',
  providers: ['openai'],
  answer(json, asked) {
    const given = moderationIn(json, asked)
    return typeof given === 'string' ? given : { usage: { inputTokens: 0, outputTokens: 0 }, ...given }
  },
}
