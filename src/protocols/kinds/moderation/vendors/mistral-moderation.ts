import { getTexts, type ModerationAdapter, readModeration } from '../moderation-vendor.ts'

/**
 * Mistral moderates only text, with its own categories. Categories that OpenAI lacks keep their names: `health`, `financial`, `law`, `pii`,
 * `jailbreaking`. https://docs.mistral.ai/capabilities/guardrailing
 */
export const mistral: ModerationAdapter = {
  name: 'mistral',
  providers: ['mistral'],
  writeRequest(request, { target: { model }, warnings }) {
    for (const { image } of request.inputs)
      if (image !== undefined)
        warnings.reject(image, 'the target only moderates text, so the image would go unchecked.')
    for (const name of request.otherFieldNames) warnings.recordDrop(name)
    return { path: '/moderations', body: { model, input: getTexts(request) } }
  },
  readResponse: (json, request) => readModeration(json, request, NAMES),
}

/** OpenAI's names for Mistral's categories. Some models combine `dangerous` and `criminal`. */
const NAMES = {
  hate_and_discrimination: 'hate',
  violence_and_threats: 'violence',
  dangerous_and_criminal_content: 'illicit',
  dangerous: 'illicit',
  criminal: 'illicit',
  selfharm: 'self-harm',
}
