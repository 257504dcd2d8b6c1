import { png } from '../image/images.ts'

const audio = { data: 'aGVsbG8gaGVsbG8gaGVsbG8=', format: 'mp3' }
const image = `data:image/png;base64,${png}`
const options = {
  openai: {
    dimensions: 8,
    user: 'u',
    language: 'en',
    temperature: 0,
    timestampGranularities: ['word'],
    instructions: 'i',
  },
  google: { outputDimensionality: 8, taskType: 'RETRIEVAL_QUERY' },
  cohere: { inputType: 'search_query' },
}

/** Requests with many fields, by operation and client format. */
export const RICH: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  embed: {
    openai: {
      input: [
        'Hi',
        {
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: { url: image } },
          ],
        },
      ],
      ...{
        dimensions: 8,
        output_dimension: 8,
        encoding_format: 'float',
        input_type: 'query',
        task: 'query',
        user: 'u',
      },
      ...{ truncate: 'END', truncation: true, output_dtype: 'float', embedding_type: 'float' },
    },
    cohere: {
      texts: ['Hi'],
      ...{ images: [image], inputs: [{ content: [{ type: 'text', text: 'a' }] }], input_type: 'search_query' },
      ...{ embedding_types: ['float'], output_dimension: 8, truncate: 'END', max_tokens: 3 },
    },
    gemini: {
      content: { parts: [{ text: 'Hi' }, { inlineData: { mimeType: 'image/png', data: png } }] },
      ...{ taskType: 'RETRIEVAL_QUERY', title: 't', outputDimensionality: 8 },
    },
    'gemini-batch': {
      requests: [
        {
          model: 'models/m',
          content: { parts: [{ text: 'Hi' }] },
          taskType: 'RETRIEVAL_QUERY',
          outputDimensionality: 8,
        },
      ],
    },
    'ai-sdk': { values: ['Hi'], providerOptions: options },
  },
  image: {
    generate: {
      ...{ prompt: 'a', n: 1, size: '8x8', aspect_ratio: '1:1', response_format: 'url', stream: true },
      ...{
        partial_images: 1,
        quality: 'high',
        output_compression: 50,
        background: 'auto',
        output_format: 'png',
        user: 'u',
      },
      ...{
        seed: 1,
        negative_prompt: 'b',
        style: 's',
        safety_identifier: 's',
        svg: { model: 'm' },
        input_references: [image],
      },
    },
    edit: {
      prompt: 'a',
      image: [image, { image_url: { url: image } }],
      mask: { url: image },
      n: 1,
      size: 'auto',
      seed: 1,
    },
    'ai-sdk': {
      ...{ prompt: 'a', n: 1, size: '8x8', aspectRatio: '1:1', seed: 1, providerOptions: options },
      files: [{ type: 'file', mediaType: 'image/png', data: png }],
    },
  },
  speak: {
    openai: {
      ...{ input: 'Hi', voice: { id: 'v' }, response_format: 'mp3', speed: 1, instructions: 'i', stream_format: 'sse' },
      ...{ language: 'en', stream: true, sample_rate: 24_000 },
    },
    'ai-sdk': {
      text: 'Hi',
      voice: 'v',
      outputFormat: 'mp3',
      instructions: 'i',
      speed: 1,
      language: 'en',
      providerOptions: options,
    },
  },
  transcribe: {
    openai: {
      input_audio: audio,
      ...{
        language: 'en',
        prompt: 'a, b',
        keywords: ['a'],
        response_format: 'verbose_json',
        temperature: 0,
        stream: true,
      },
      ...{ timestamp_granularities: ['word'], include: ['logprobs'], chunking_strategy: { type: 'server_vad' } },
    },
    'ai-sdk': {
      audio: audio.data,
      mediaType: 'audio/mpeg',
      timestampGranularities: ['word'],
      providerOptions: options,
    },
  },
  translate: { 'openai-translation': { input_audio: audio, prompt: 'a', response_format: 'json', temperature: 0 } },
  moderate: {
    openai: { input: ['Hi', { type: 'text', text: 'a' }, { type: 'image_url', image_url: { url: image } }] },
  },
  ocr: {
    mistral: {
      document: { type: 'image_url', image_url: { url: image } },
      pages: [0],
      include_image_base64: true,
      image_limit: 1,
    },
  },
}

/** Additional fields for all clients of an operation. */
export const EXTRA: Readonly<Record<string, object>> = {
  rerank: {
    ...{
      documents: ['a', { text: 'b', image }],
      rank_fields: ['text'],
      return_documents: true,
      top_n: 1,
      top_k: 1,
    },
    ...{ max_tokens_per_doc: 9, max_chunks_per_doc: 9, truncation: true, providerOptions: options, topN: 1 },
  },
  search: {
    ...{
      query: ['a'],
      max_results: 3,
      max_tokens: 9,
      country: 'US',
      search_domain_filter: ['a.b'],
      search_language_filter: ['en'],
    },
    ...{
      search_recency_filter: 'day',
      search_after_date_filter: '2026-01-01',
      search_mode: 'web',
      search_type: 'web',
      offset: 1,
    },
    ...{
      content_options: { full_page: true, format: 'text', max_characters: 9 },
      provider_options: { depth: 'basic' },
    },
  },
  fetch: {
    url: 'https://a.test/',
    format: 'text',
    max_characters: 9,
    timeout_ms: 9,
    fresh: 1,
    include_links: true,
    provider_options: { a: 1 },
  },
}
