import { fromBase64 } from '../../../../lib/bytes.ts'
import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { type Fields, readFields } from '../../../formats/canonical/canonical-fields.ts'
import type { Warnings } from '../../../formats/canonical/canonical-warnings.ts'
import { dropUnread, findFirstOption, readProviderOptions, writeResponseFields } from '../../ai-sdk-kinds.ts'
import { type ImageRequest, type InputImage, parseImageUrl } from '../image.ts'
import { type ImageClient, readCount, readPrompt, recordMissingImages, rejectTooManyImages } from '../image-clients.ts'
import { readImageHeader } from '../image-header.ts'
import { parsePixels, parseRatio, parseTier } from '../image-sizes.ts'

/**
 * The AI SDK's gateway protocol. A request with `files` is an edit. Provider options map to OpenAI's fields (`outputFormat` to `output_format`);
 * Google's `imageConfig` maps to an aspect ratio and a size tier. The AI SDK only keeps the metadata in `images`, so each image has the response's
 * metadata. Only the first image has the cost, so adding up all images gives the correct total.
 */
export const aiSdk: ImageClient = {
  fieldNames: { image: 'files', aspect_ratio: 'aspectRatio', resolution: 'providerOptions', images: 'images' },
  read(body, { warnings }) {
    const fields = readFields(body, '', warnings)
    const options = readProviderOptions(fields)
    const configs = options.flatMap((option) => option.fields('imageConfig') ?? [])
    const inputImages = (fields.list('files') ?? []).map((file, index) =>
      readInputImage(file, `files[${index}]`, warnings),
    )
    const maskFile = fields.any('mask')
    const mask = maskFile === undefined ? undefined : readInputImage(maskFile, 'mask', warnings)
    rejectTooManyImages(inputImages, warnings)
    if (mask && inputImages.length === 0) warnings.reject('mask', 'is only for edits. Also send the image to edit.')
    const aspectRatio = fields.string('aspectRatio') ?? findFirstOption([...options, ...configs], readRatio)
    if (aspectRatio !== undefined && parseRatio(aspectRatio) === undefined)
      warnings.reject('aspect_ratio', 'must be two numbers, such as "16:9".')
    const tier = findFirstOption(
      [...options, ...configs],
      (option) => option.string('imageSize') ?? option.string('resolution'),
    )
    const size = fields.string('size')
    const pixels = parsePixels(size)
    if (size !== undefined && !pixels) warnings.reject('size', 'must be a width and a height, such as "1536x1024".')
    const seed = fields.number('seed')
    const request: ImageRequest = {
      prompt: readPrompt(fields, warnings),
      count: readCount(
        fields,
        warnings,
        ' For more images, make several calls: set "maxImagesPerCall" to that number or less.',
      ),
      size: pixels,
      aspectRatio,
      tier: parseTier(tier),
      inputImages,
      mask,
      isForm: false,
      shouldReturnUrl: false,
      options: { ...readOptions(options, warnings), ...(seed !== undefined && { seed }) },
    }
    dropUnread(fields, [...options, ...configs], warnings)
    return request
  },
  write(response, context) {
    recordMissingImages(response, context)
    const returnedImages = response.images.filter(({ base64 }) => base64 !== undefined)
    const urlImages = response.images.filter(({ base64 }) => base64 === undefined)
    const { costUsd, ...metadata } = context.describe?.(response.usage) ?? {}
    const warnings = [...context.listDroppedFields(), ...context.warnings.list()]
    const imageMetadata = [...returnedImages, ...urlImages].map(({ url, revisedPrompt }, index) => ({
      ...metadata,
      ...(index === 0 && costUsd !== undefined && { costUsd }),
      warnings,
      ...(url !== undefined && { url }),
      ...(revisedPrompt !== undefined && { revisedPrompt }),
    }))
    return {
      images: returnedImages.map(({ base64 }) => base64),
      ...(returnedImages.length === 0 && { isRetryable: false }), // the vendor has already charged for the images, and the metadata has their URLs
      ...writeResponseFields(context, response.usage, { images: imageMetadata }),
    }
  },
}

const readRatio = (fields: Fields) => fields.string('aspectRatio') ?? fields.string('aspect_ratio')

function readInputImage(inputFile: unknown, path: string, warnings: Warnings): InputImage {
  const { type, data, url } = isObject(inputFile) ? inputFile : {}
  if (type === 'url' && typeof url === 'string')
    return parseImageUrl(url) ?? warnings.reject(path, 'must be an https URL or a data URL.')
  if (typeof data !== 'string')
    return warnings.reject(path, 'must have "data" in base64, or the type "url" and a "url".')
  const bytes = decodeBase64(data)
  const header = bytes && readImageHeader(bytes)
  return header ? { bytes, type: header.type } : warnings.reject(path, 'must be a PNG, WebP, or JPEG image.')
}

function decodeBase64(data: string): Uint8Array | undefined {
  try {
    return fromBase64(data)
  } catch {
    return undefined
  }
}

/** Converts all providers' options to OpenAI's names, except options that have their own fields. */
function readOptions(fieldSets: readonly Fields[], warnings: Warnings): JsonObject {
  const options: JsonObject = {}
  for (const fields of fieldSets)
    for (const [camel, value] of Object.entries(fields.value)) {
      const name = camel.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      if (value === null || NON_OPTIONS.has(name) || Object.hasOwn(options, name)) continue
      if (GATEWAY_OPTIONS.has(fields.path) && name !== 'user') continue
      fields.ignore(camel)
      warnings.setFieldName(name, fields.getPath(camel))
      options[name] = value
    }
  return options
}

/** Options that have their own fields, and streaming options, which this protocol doesn't support. */
const NON_OPTIONS: ReadonlySet<string> = new Set([
  ...['model', 'prompt', 'n', 'size', 'aspect_ratio', 'resolution', 'image_size', 'image_config', 'response_format'],
  ...['stream', 'partial_images', 'image', 'images', 'input_references', 'mask', 'markup', 'seed'],
])

/** Options for the gateway, not for a model. */
const GATEWAY_OPTIONS: ReadonlySet<string> = new Set(['providerOptions.gateway', 'providerOptions.signalbox'])
