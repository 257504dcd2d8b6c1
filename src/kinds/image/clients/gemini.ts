import { encodeUtf8 } from '../../../lib/bytes.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { ClientStream, WriteTerms } from '../../forms.ts'
import { geminiAnswer, geminiRequest } from '../../gemini.ts'
import { headerOf, type ImageClient, MOST_IMAGES, noteLost, refuseMany } from '../clients.ts'
import { type ImageRequest, type Images, type MadeImage, pictureAt } from '../image.ts'
import type { ImagePiece } from '../pieces.ts'
import { ratioIn, tierIn } from '../sizes.ts'

/** Google's form, `generateContent` with `responseModalities: ['IMAGE']`: pictures among the contents are changed. */
export const gemini = (isStream: boolean): ImageClient => ({
  fieldNames: {
    prompt: 'contents',
    image: 'contents',
    n: 'generationConfig.candidateCount',
    aspect_ratio: 'generationConfig.imageConfig.aspectRatio',
    resolution: 'generationConfig.imageConfig.imageSize',
    seed: 'generationConfig.seed',
  },
  read(json, { warnings }) {
    const { config, text, system, media, drop } = geminiRequest(json, warnings)
    const prompt = [system, text].filter((part) => part?.trim()).join('\n')
    if (text.trim() === '') return warnings.refuse('prompt', 'must have a text that says what the image shows.')
    const count = config.number('candidateCount') ?? 1
    if (!Number.isInteger(count) || count < 1 || count > MOST_IMAGES)
      warnings.refuse('n', `must be a whole number from 1 to ${MOST_IMAGES}.`)
    const image = config.fields('imageConfig')
    const aspectRatio = image?.text('aspectRatio')
    if (aspectRatio !== undefined && ratioIn(aspectRatio) === undefined)
      warnings.refuse('aspect_ratio', 'must be two numbers, such as "16:9".')
    const pictures = media.map(
      (address) =>
        pictureAt(address) ?? warnings.refuse('image', 'may have pictures in base64 or at https addresses only.'),
    )
    refuseMany(pictures, warnings)
    const seed = config.number('seed')
    const asked: ImageRequest = {
      prompt,
      count,
      aspectRatio,
      tier: tierIn(image?.text('imageSize')),
      pictures,
      isForm: false,
      wantsUrl: false,
      options: seed === undefined ? {} : { seed },
    }
    drop(image)
    return asked
  },
  write: answerOf,
  stream: (_, terms) => (isStream ? streamOf(terms) : undefined),
})

function answerOf(given: Images, terms: WriteTerms<ImageRequest>): JsonObject {
  noteLost(given, terms)
  const { model, newId } = terms
  return geminiAnswer(given.images.flatMap(inlineData), { model, id: newId(), usage: given.usage, isLast: true })
}

/** The whole answer as one event: images that are not complete have no place in this form. */
function streamOf(terms: WriteTerms<ImageRequest>): ClientStream<Images, ImagePiece> {
  const images: MadeImage[] = []
  return {
    isEvents: true,
    type: () => 'text/event-stream',
    piece({ image, partial }) {
      if (partial === undefined) images.push(image)
      return undefined
    },
    end: (usage) => encodeUtf8(`data: ${JSON.stringify(answerOf({ images, usage }, terms))}\n\n`),
    whole: (given) => given.images.map((image) => ({ image })),
  }
}

function inlineData({ base64, type }: MadeImage): Array<{ mimeType: string; data: string }> {
  if (base64 === undefined) return []
  return [{ mimeType: headerOf(base64)?.type ?? type ?? 'image/png', data: base64 }]
}
