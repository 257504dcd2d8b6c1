import { type ModerationForm, moderationIn, textsOf } from '../vendor.ts'

/**
 * Mistral, which judges texts only, by categories of its own. Those that OpenAI does not have keep their names: `health`, `financial`, `law`, `pii`,
 * `jailbreaking`. https://docs.mistral.ai/capabilities/guardrailing
 */
export const mistral: ModerationForm = {
  name: 'mistral',
  providers: ['mistral'],
  request(asked, { target: { model }, warnings }) {
    for (const { image } of asked.inputs)
      if (image !== undefined)
        warnings.refuse(image, 'the target judges texts only, and an image is not to pass unseen.')
    for (const name of asked.others) warnings.noteDropped(name)
    return { path: '/moderations', body: { model, input: textsOf(asked) } }
  },
  answer: (json, asked) => moderationIn(json, asked, NAMES),
}

/** OpenAI's names of its categories; some models judge `dangerous` and `criminal` together. */
const NAMES = {
  hate_and_discrimination: 'hate',
  violence_and_threats: 'violence',
  dangerous_and_criminal_content: 'illicit',
  dangerous: 'illicit',
  criminal: 'illicit',
  selfharm: 'self-harm',
}
