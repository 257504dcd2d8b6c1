import { assert, suite } from '../../support/suite.ts'
import { openWeb } from './open-web.ts'

const test = suite('page URLs that point to internal networks')

/** URLs that must be rejected before any vendor is called. */
const inside = [
  ...['http://localhost/', 'http://localhost:8080/', 'https://LOCALHOST/', 'http://localhost./', 'http://a.localhost/'],
  ...[
    'http://127.0.0.1/',
    'http://127.1/',
    'http://127.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
  ],
  ...[
    'http://017700000001/',
    'http://0177.0.0.1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://127.0.0.1./',
    'http://①②⑦.⓪.⓪.①/',
  ],
  ...[
    'http://%31%32%37.0.0.1/',
    'http://127。0。0。1/',
    'http://1２7.0.0.1/',
    'http://10.0.0.5/',
    'http://172.16.0.1/',
  ],
  ...['http://192.168.1.1/', 'http://169.254.169.254/latest/meta-data', 'http://100.64.0.1/', 'http://198.18.0.1/'],
  ...[
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://8.8.8.8/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
  ],
  ...[
    'http://[::ffff:7f00:1]/',
    'http://[0:0:0:0:0:ffff:a00:1]/',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'http://[fc00::]/',
  ],
  ...[
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:db8::1]/',
    'http://[::127.0.0.1]/',
    'http://[ff02::1]/',
  ],
  ...[
    'http://intranet/',
    'http://wiki.internal/',
    'http://metadata.google.internal/',
    'http://printer.local/',
    'http://a.lan/',
  ],
  ...[
    'http://a.home.arpa/',
    'http://a.corp/',
    'http://kubernetes.default.svc/',
    'http://a.svc.cluster.local/',
    'http://a.test/',
  ],
  ...['http://127.0.0.1.nip.io/', 'http://a.localtest.me/', 'http://metadata.goog/', 'http://localhost.localdomain/'],
  ...[
    'http://user@found.example/',
    'http://user:pass@found.example/',
    'http://:pass@found.example/',
    'https://found.example@127.0.0.1/',
  ],
  ...['http://127.0.0.1\\@found.example/', 'http://127.0.0.1#@found.example/', 'http://127.0.0.1?@found.example/'],
  ...[
    'ftp://found.example/',
    'file:///etc/passwd',
    'file://found.example/a',
    'gopher://found.example/',
    'javascript:alert(1)',
  ],
  ...[
    'data:text/html,hi',
    'about:blank',
    'blob:https://found.example/1',
    'ws://found.example/',
    'view-source:http://found.example',
  ],
  ...[
    '//found.example/',
    '/etc/passwd',
    'found.example',
    'http://',
    'https:///',
    'http:127.0.0.1',
    'http:/127.0.0.1',
    'ht\ttp://127.0.0.1/',
  ],
  ...[
    'http://127.0.0.1\t/',
    ' http://127.0.0.1 ',
    'http://exa mple.com/',
    'http://found.example:99999/',
    `https://found.example/${'a'.repeat(2_048)}`,
  ],
  ...[
    'http://[::1%25eth0]/',
    'http://[v1.a]/',
    'http://a..example.com/',
    'http://-/',
    'http://１２７.1/',
    'http://found.example%00.internal/',
  ],
]

test('internal, malformed, and non-HTTP URLs are rejected for every vendor', async () => {
  const web = await openWeb()
  for (const url of inside) {
    for (const model of ['jina', 'firecrawl/fetch', 'tavily/fetch', 'exa']) {
      for (const body of [{ url }, { urls: ['https://found.example/', url] }]) {
        const response = await web.post('/v1/web/fetch', { model, ...body })
        assert.is(response.status, 400, `${url} at ${model}: ${response.status}`)
        const { error } = await response.json()
        assert.ok(/^urls?(?:\[1\])?$/.test(error.param), `${url}: ${error.message}`)
      }
    }
  }
  assert.equal(web.upstream.calls, [])
  assert.equal(web.recorded.errors, [])
})

const outside: Array<[given: string, sent: string]> = [
  ['https://found.example/a', 'https://found.example/a'],
  ['http://found.example:8080/a?b=c&d#e', 'http://found.example:8080/a?b=c&d#e'],
  ['HTTPS://Found.Example', 'https://found.example/'],
  ['https://bücher.example/ä b', 'https://xn--bcher-kva.example/%C3%A4%20b'],
  ['https://found.example/../a/./b', 'https://found.example/a/b'],
  ['https://found.example\\@127.0.0.1/', 'https://found.example/@127.0.0.1/'],
  ['https://www.iana.org/domains?next=http://127.0.0.1/', 'https://www.iana.org/domains?next=http://127.0.0.1/'],
]

test('all other URLs reach the vendor normalized, and only in the body', async () => {
  const web = await openWeb()
  for (const [input, sent] of outside) {
    for (const model of ['jina', 'firecrawl', 'tavily', 'exa']) {
      const response = await web.post('/v1/web/fetch', { model, url: input })
      assert.is(response.status, 200, input)
      assert.is((await response.json()).url, input)
      const call = web.sent()
      assert.equal(call.input.url ?? call.input.urls, call.input.url ? sent : [sent])
      assert.ok(!JSON.stringify([call.address, call.headers]).includes('found.example'))
    }
  }
})
