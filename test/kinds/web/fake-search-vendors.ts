import {
  american,
  type Check,
  type FakeVendor,
  flag,
  found,
  getError,
  isOneOf,
  isTextList,
  like,
  number,
  serperFields,
  text,
  upTo,
} from './fake-vendor.ts'

export const perplexity: FakeVendor = {
  provider: 'perplexity-agent',
  host: 'api.perplexity.ai',
  keyHeader: 'authorization',
  refuse: getError((message, code) => ({ error: { message, type: 'invalid_request', code } })),
  paths: {
    '/search': {
      method: 'POST',
      required: ['query'],
      fields: {
        query: (value) => text(value) || isTextList(value),
        max_results: upTo(20),
        max_tokens: number,
        max_tokens_per_page: number,
        country: like(/^[A-Z]{2}$/),
        search_domain_filter: isTextList,
        search_language_filter: (value) => isTextList(value) && (value as string[]).every(like(/^[a-z]{2}$/)),
        search_recency_filter: isOneOf('hour', 'day', 'week', 'month', 'year'),
        search_after_date_filter: american,
        search_before_date_filter: american,
        last_updated_after_filter: american,
        last_updated_before_filter: american,
        search_mode: isOneOf('academic', 'sec'),
        search_context_size: isOneOf('low', 'medium', 'high'),
        search_type: isOneOf('people'),
        display_server_time: flag,
      },
      response: {
        id: 'search-1',
        results: [{ ...found, snippet: 'Words', date: '2025-11-03', last_updated: '2025-11-04' }],
        server_time: '2026-01-01T00:00:00Z',
      },
    },
  },
}

const braveFields: Record<string, Check> = {
  q: (value) => text(value) && (value as string).length <= 400,
  count: upTo(50),
  offset: upTo(9),
  country: like(/^[A-Z]{2}$/),
  search_lang: like(/^[a-z]{2}(?:-[a-z]+)?$/),
  ui_lang: text,
  safesearch: isOneOf('off', 'moderate', 'strict'),
  freshness: like(/^(?:p[dwmy]|\d{4}-\d{2}-\d{2}to\d{4}-\d{2}-\d{2})$/),
  extra_snippets: isOneOf('true', 'false'),
}

const braveResult = {
  title: 'A <strong>page</strong>',
  url: found.url,
  description: 'Words &amp; <strong>tags</strong>',
  age: '3 days ago',
  page_age: '2025-11-03T10:00:00',
  language: 'en',
  profile: { name: 'Found' },
  meta_url: { favicon: 'https://found.example/f.ico' },
  thumbnail: { src: 'https://found.example/i.png' },
}

export const brave: FakeVendor = {
  provider: 'brave',
  host: 'api.search.brave.com',
  keyHeader: 'x-subscription-token',
  headers: { accept: isOneOf('application/json') },
  refuse: getError((detail, status) => ({
    type: 'ErrorResponse',
    error: { code: 'VALIDATION', detail, meta: {}, status },
  })),
  paths: {
    '/res/v1/web/search': {
      method: 'GET',
      required: ['q'],
      fields: { ...braveFields, count: upTo(20) },
      response: { type: 'search', query: { original: 'q' }, web: { type: 'search', results: [braveResult] } },
    },
    '/res/v1/news/search': {
      method: 'GET',
      required: ['q'],
      fields: braveFields,
      response: { type: 'news', query: { original: 'q' }, results: [braveResult] },
    },
  },
}

export const serper: FakeVendor = {
  provider: 'serper',
  host: 'google.serper.dev',
  keyHeader: 'x-api-key',
  refuse: getError((message, statusCode) => ({ message, statusCode })),
  paths: {
    '/search': {
      method: 'POST',
      required: ['q'],
      fields: serperFields,
      response: {
        searchParameters: { q: 'q' },
        organic: [{ title: 'A page', link: found.url, snippet: 'Words', date: 'Nov 3, 2025', position: 1 }],
        credits: 1,
      },
    },
    '/news': {
      method: 'POST',
      required: ['q'],
      fields: serperFields,
      response: {
        searchParameters: { q: 'q' },
        news: [
          {
            title: 'A page',
            link: found.url,
            snippet: 'Words',
            date: '2 days ago',
            imageUrl: 'https://found.example/i.png',
          },
        ],
        credits: 1,
      },
    },
  },
}

export const searxng: FakeVendor = {
  provider: 'searxng',
  host: 'localhost:8080',
  keyHeader: 'authorization',
  headers: { accept: isOneOf('application/json') },
  refuse: (status) => new Response('<html>Forbidden</html>', { status, headers: { 'content-type': 'text/html' } }),
  paths: {
    '/search': {
      method: 'GET',
      required: ['q', 'format'],
      fields: {
        q: text,
        format: isOneOf('json'),
        language: text,
        time_range: isOneOf('day', 'month', 'year'),
        pageno: upTo(1_000),
        safesearch: isOneOf('0', '1', '2'),
        categories: text,
        engines: text,
      },
      response: {
        query: 'q',
        results: [
          {
            ...found,
            content: 'Words',
            publishedDate: '2025-11-03T00:00:00',
            engines: ['a'],
            score: 1.5,
            thumbnail: 'https://found.example/i.png',
          },
        ],
      },
    },
  },
}
