import { type Fields, fieldsOf } from '../../../formats/canonical/fields.ts'
import type { Warnings } from '../../../formats/canonical/warnings.ts'
import { fromBase64 } from '../../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { dropUnread, factsOf, firstIn, optionsIn } from '../../ai-sdk.ts'
import { countIn, type ImageClient, noteLost, promptIn, refuseMany } from '../clients.ts'
import { pictureIn } from '../header.ts'
import { type ImageRequest, type Picture, pictureAt } from '../image.ts'
import { pixelsIn, ratioIn, tierIn } from '../sizes.ts'

/**
 * The form of the AI SDK's gateway protocol: with `files` it is an edit. Options of its providers stand for members of OpenAI's form
 * (`outputFormat` for `output_format`), and `imageConfig` of Google's for ratio and tier. Of the metadata of an answer the AI SDK keeps `images`
 * alone, so that the facts of the answer are said of each image; only the first has the cost, so that a sum over all images is right.
 */
export const aiSdk: ImageClient = {
  fieldNames: { image: 'files', aspect_ratio: 'aspectRatio', resolution: 'providerOptions', images: 'images' },
  read(body, { warnings }) {
    const fields = fieldsOf(body, '', warnings)
    const given = optionsIn(fields)
    const configs = given.flatMap((one) => one.fields('imageConfig') ?? [])
    const pictures = (fields.list('files') ?? []).map((file, at) => pictureOf(file, `files[${at}]`, warnings))
    const maskFile = fields.any('mask')
    const mask = maskFile === undefined ? undefined : pictureOf(maskFile, 'mask', warnings)
    refuseMany(pictures, warnings)
    if (mask && pictures.length === 0) warnings.refuse('mask', 'is for edits: send the picture to be changed as well.')
    const aspectRatio = fields.text('aspectRatio') ?? firstIn([...given, ...configs], ratioOf)
    if (aspectRatio !== undefined && ratioIn(aspectRatio) === undefined)
      warnings.refuse('aspect_ratio', 'must be two numbers, such as "16:9".')
    const tier = firstIn([...given, ...configs], (one) => one.text('imageSize') ?? one.text('resolution'))
    const size = fields.text('size')
    const pixels = pixelsIn(size)
    if (size !== undefined && !pixels) warnings.refuse('size', 'must be a width and a height, such as "1536x1024".')
    const seed = fields.number('seed')
    const asked: ImageRequest = {
      prompt: promptIn(fields, warnings),
      count: countIn(fields, warnings, ' More are made by several calls: set "maxImagesPerCall" to that or less.'),
      size: pixels,
      aspectRatio,
      tier: tierIn(tier),
      pictures,
      mask,
      isForm: false,
      wantsUrl: false,
      options: { ...optionsOf(given, warnings), ...(seed !== undefined && { seed }) },
    }
    dropUnread(fields, [...given, ...configs])
    return asked
  },
  write(given, terms) {
    noteLost(given, terms)
    const shown = given.images.filter(({ base64 }) => base64 !== undefined)
    const others = given.images.filter(({ base64 }) => base64 === undefined)
    const { costUsd, ...facts } = terms.describe?.(given.usage) ?? {}
    const warnings = [...terms.losses(), ...terms.lost.list()]
    const each = [...shown, ...others].map(({ url, revisedPrompt }, at) => ({
      ...facts,
      ...(at === 0 && costUsd !== undefined && { costUsd }),
      warnings,
      ...(url !== undefined && { url }),
      ...(revisedPrompt !== undefined && { revisedPrompt }),
    }))
    return {
      images: shown.map(({ base64 }) => base64),
      ...(shown.length === 0 && { isRetryable: false }), // they are paid for, and their addresses are in the metadata
      ...factsOf(terms, given.usage, { images: each }),
    }
  },
}

const ratioOf = (one: Fields) => one.text('aspectRatio') ?? one.text('aspect_ratio')

/** A picture in base64, or at an https address. */
function pictureOf(file: unknown, path: string, warnings: Warnings): Picture {
  const { type, data, url } = isObject(file) ? file : {}
  if (type === 'url' && typeof url === 'string')
    return pictureAt(url) ?? warnings.refuse(path, 'must be at an https address, or a data URL.')
  if (typeof data !== 'string')
    return warnings.refuse(path, 'must have "data" in base64, or the type "url" and a "url".')
  const bytes = bytesIn(data)
  const picture = bytes && pictureIn(bytes)
  return picture ? { bytes, type: picture.type } : warnings.refuse(path, 'must be a picture: PNG, WebP or JPEG.')
}

function bytesIn(data: string): Uint8Array | undefined {
  try {
    return fromBase64(data)
  } catch {
    return undefined
  }
}

/** The options of all providers by the names of OpenAI's form, without those that the form has other members for. */
function optionsOf(given: readonly Fields[], warnings: Warnings): JsonObject {
  const options: JsonObject = {}
  for (const one of given)
    for (const [camel, value] of Object.entries(one.value)) {
      const name = camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      if (value === null || OTHERWISE.has(name) || Object.hasOwn(options, name)) continue
      if (GATEWAYS.has(one.at) && name !== 'user') continue
      one.ignore(camel)
      warnings.useName(name, one.path(camel))
      options[name] = value
    }
  return options
}

/** What the form has other members for, and what there is not in it: its answers are whole. */
const OTHERWISE: ReadonlySet<string> = new Set([
  ...['model', 'prompt', 'n', 'size', 'aspect_ratio', 'resolution', 'image_size', 'image_config', 'response_format'],
  ...['stream', 'partial_images', 'image', 'images', 'input_references', 'mask', 'markup', 'seed'],
])

/** Options of gateways, which are no models'. */
const GATEWAYS: ReadonlySet<string> = new Set(['providerOptions.gateway', 'providerOptions.signalbox'])
