import {
  day,
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

export const tavily: FakeVendor = {
  provider: 'tavily',
  host: 'api.tavily.com',
  keyHeader: 'authorization',
  refuse: getError((error) => ({ detail: { error } })),
  paths: {
    '/search': {
      method: 'POST',
      required: ['query', 'include_usage'],
      fields: {
        query: text,
        search_depth: isOneOf('basic', 'advanced', 'fast', 'ultra-fast'),
        topic: isOneOf('general', 'news', 'finance'),
        max_results: upTo(20),
        time_range: isOneOf('day', 'week', 'month', 'year'),
        days: number,
        start_date: day,
        end_date: day,
        include_raw_content: isOneOf('markdown', 'text'),
        include_domains: isTextList,
        exclude_domains: isTextList,
        country: like(/^[a-z ]+$/),
        language: like(/^[a-z]{2}$/),
        include_usage: isOneOf(true),
        include_favicon: flag,
        exact_match: flag,
      },
      response: {
        query: 'q',
        images: [],
        results: [
          {
            ...found,
            content: 'Words',
            score: 0.9,
            raw_content: '# Whole',
            published_date: 'Mon, 03 Nov 2025 10:00:00 GMT',
            favicon: 'https://found.example/f.ico',
          },
        ],
        response_time: 0.5,
        usage: { credits: 1 },
        request_id: 'search-1',
      },
    },
    '/extract': {
      method: 'POST',
      required: ['urls', 'include_usage'],
      fields: {
        urls: isTextList,
        extract_depth: isOneOf('basic', 'advanced'),
        format: isOneOf('markdown', 'text'),
        include_images: flag,
        timeout: upTo(60),
        query: text,
        include_usage: isOneOf(true),
      },
      response: {
        results: [
          {
            url: 'https://found.example/a',
            title: 'A page',
            raw_content: 'Whole',
            images: ['https://found.example/i.png'],
          },
        ],
        failed_results: [],
        response_time: 0.5,
        usage: { credits: 1 },
        request_id: 'fetch-1',
      },
    },
  },
}

export const exa: FakeVendor = {
  provider: 'exa',
  host: 'api.exa.ai',
  keyHeader: 'x-api-key',
  refuse: getError((error) => ({ requestId: 'r', error, tag: 'INVALID_REQUEST_BODY' })),
  paths: {
    '/search': {
      method: 'POST',
      required: ['query'],
      fields: {
        query: text,
        type: isOneOf('auto', 'neural', 'keyword', 'hybrid', 'fast', 'instant'),
        numResults: upTo(100),
        includeDomains: isTextList,
        excludeDomains: isTextList,
        startPublishedDate: like(/^\d{4}-\d{2}-\d{2}T.*Z$/),
        endPublishedDate: like(/^\d{4}-\d{2}-\d{2}T.*Z$/),
        category: isOneOf('company', 'publication', 'news', 'personal site', 'financial report', 'people'),
        userLocation: like(/^[A-Z]{2}$/),
        moderation: flag,
        contents: (value) =>
          Object.entries(value as object).every(([name, one]) =>
            name === 'text' ? one === true || one.includeHtmlTags : name === 'highlights' && one === true,
          ),
      },
      response: {
        requestId: 'search-1',
        resolvedSearchType: 'neural',
        results: [
          {
            ...found,
            id: found.url,
            publishedDate: '2025-11-03T00:00:00.000Z',
            author: 'An author',
            image: 'https://found.example/i.png',
            favicon: 'https://found.example/f.ico',
            highlights: ['Words', 'more words'],
            text: 'Whole',
          },
        ],
        costDollars: { total: 0.007, search: { neural: 0.007 } },
      },
    },
    '/contents': {
      method: 'POST',
      required: ['urls', 'text'],
      fields: {
        urls: isTextList,
        text: (value) => value === true || (value as { includeHtmlTags: boolean }).includeHtmlTags,
        livecrawl: isOneOf('never', 'fallback', 'preferred', 'always', 'auto'),
        livecrawlTimeout: number,
        maxAgeHours: number,
        extras: (value) => Object.keys(value as object).every((name) => ['links', 'imageLinks'].includes(name)),
      },
      response: {
        requestId: 'fetch-1',
        results: [
          {
            id: found.url,
            url: found.url,
            title: 'A page',
            text: 'Whole',
            author: 'An author',
            publishedDate: '2025-11-03T00:00:00.000Z',
            extras: { links: ['https://found.example/b'], imageLinks: ['https://found.example/i.png'] },
          },
        ],
        statuses: [{ id: found.url, status: 'success', source: 'cached' }],
        costDollars: { total: 0.001 },
      },
    },
  },
}

export const firecrawl: FakeVendor = {
  provider: 'firecrawl',
  host: 'api.firecrawl.dev',
  keyHeader: 'authorization',
  refuse: getError((error) => ({ success: false, error })),
  paths: {
    '/v2/search': {
      method: 'POST',
      required: ['query'],
      fields: {
        query: text,
        limit: upTo(100),
        sources: (value) => JSON.stringify(value) === '["news"]',
        categories: isTextList,
        includeDomains: isTextList,
        excludeDomains: isTextList,
        tbs: serperFields.tbs ?? text,
        location: text,
        country: like(/^[A-Z]{2}$/),
        timeout: number,
        scrapeOptions: (value) => isTextList((value as { formats: string[] }).formats),
      },
      response: {
        success: true,
        id: 'search-1',
        data: {
          web: [{ ...found, description: 'Words', position: 1, markdown: '# Whole', metadata: { statusCode: 200 } }],
        },
        creditsUsed: 2,
      },
    },
    '/v2/scrape': {
      method: 'POST',
      required: ['url', 'formats'],
      fields: {
        url: text,
        formats: isTextList,
        onlyMainContent: flag,
        timeout: number,
        maxAge: number,
        waitFor: number,
      },
      response: {
        success: true,
        data: {
          markdown: 'Whole',
          html: '<p>Whole</p>',
          links: ['https://found.example/b'],
          images: ['https://found.example/i.png'],
          metadata: {
            title: 'A page',
            language: 'en',
            sourceURL: found.url,
            statusCode: 200,
            contentType: 'text/html',
            publishedTime: '2025-11-03',
            creditsUsed: 1,
            scrapeId: 'fetch-1',
          },
        },
      },
    },
  },
}

export const jinaSearch: FakeVendor = {
  provider: 'jina',
  host: 's.jina.ai',
  keyHeader: 'authorization',
  headers: {
    accept: isOneOf('application/json'),
    'x-respond-with': isOneOf('no-content'),
    'x-return-format': isOneOf('markdown', 'html', 'text'),
  },
  refuse: getError((message, code) => ({
    data: null,
    code,
    name: 'ParamValidationError',
    status: code * 100,
    message,
    readableMessage: message,
  })),
  paths: {
    '/': {
      method: 'POST',
      required: ['q'],
      fields: {
        q: text,
        num: upTo(20),
        gl: like(/^[a-z]{2}$/),
        hl: like(/^[a-z]{2}(?:-[a-z]{2})?$/),
        page: number,
        type: isOneOf('news'),
        location: text,
        provider: isOneOf('google', 'bing'),
        noCache: flag,
      },
      response: {
        code: 200,
        status: 20000,
        data: [{ ...found, description: 'Words', content: '# Whole', date: 'Nov 3, 2025' }],
        meta: { usage: { tokens: 10_000 } },
      },
    },
  },
}

export const jinaReader: FakeVendor = {
  provider: 'jina',
  host: 'r.jina.ai',
  keyHeader: 'authorization',
  headers: {
    accept: isOneOf('application/json'),
    'x-return-format': isOneOf('markdown', 'html', 'text'),
    'x-timeout': like(/^\d{1,3}$/),
    'x-no-cache': isOneOf('true'),
    'x-cache-tolerance': like(/^\d+$/),
    'x-with-links-summary': isOneOf('true'),
    'x-with-images-summary': isOneOf('true'),
  },
  refuse: jinaSearch.refuse,
  paths: {
    '/': {
      method: 'POST',
      required: ['url'],
      fields: {
        url: text,
        targetSelector: text,
        engine: isOneOf('browser', 'direct'),
        locale: text,
        tokenBudget: number,
      },
      response: {
        code: 200,
        status: 20000,
        data: {
          title: 'A page',
          url: found.url,
          content: 'Whole',
          publishedTime: '2025-11-03',
          links: { Next: 'https://found.example/b' },
          images: { 'Image 1': 'https://found.example/i.png' },
          usage: { tokens: 12 },
        },
      },
    },
  },
}
