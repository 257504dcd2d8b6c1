import { NoProxyError, readNoProxy } from '../../adapters/mount/node/node-proxies.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('hosts that bypass the proxy with NO_PROXY')

/** For each `NO_PROXY` value: hosts that are called directly, and hosts that are called through the proxy. */
const table: ReadonlyArray<[noProxy: string, direct: string[], proxied: string[]]> = [
  ['', ['localhost', 'api.localhost', '127.0.0.1', '127.8.8.8:99', '[::1]:4000'], ['example.com', '10.0.0.1', '[::2]']],
  ['*', ['example.com', '10.0.0.1', '[fd00::1]'], []],
  ['localhost, *', ['example.com'], []],
  ['example.com', ['example.com', 'EXAMPLE.com.', 'a.b.example.com:8443'], ['badexample.com', 'example.com.evil.net']],
  ['.example.com', ['example.com', 'a.example.com'], ['badexample.com']],
  ['*.example.com', ['example.com', 'a.b.example.com'], ['badexample.com']],
  ['*example.com', ['badexample.com', 'a.example.com'], ['example.net']],
  ['api-*.example.com', ['api-1.example.com', 'x.api-1.example.com'], ['www.example.com']],
  ['Example.COM.', ['example.com'], ['example.net']],
  ['bücher.example', ['bücher.example', 'a.xn--bcher-kva.example'], ['bucher.example']],
  ['my_service', ['my_service:8080'], ['other_service']],
  ['.svc,.cluster.local', ['api.default.svc', 'api.default.svc.cluster.local'], ['svc.example']],
  ['example.com:8443', ['example.com:8443', 'a.example.com:8443'], ['example.com', 'example.com:84']],
  ['example.com:80', ['example.com'], ['https://example.com', 'example.com:8080']],
  ['*:8080', ['example.com:8080', '10.0.0.1:8080'], ['example.com']],
  ['10.0.0.0/8', ['10.1.2.3', '10.255.0.1:8080', '[::ffff:10.0.0.5]'], ['11.0.0.1', '10.example.com', 'example.com']],
  ['10.1.2.3/8', ['10.9.9.9'], ['11.0.0.1']],
  ['192.168.1.7/32', ['192.168.1.7'], ['192.168.1.8']],
  ['0.0.0.0/0', ['8.8.8.8'], ['example.com']],
  ['fd00::/8', ['[fd12::1]', '[fdff::2]:8080'], ['[fe80::1]', '10.0.0.1']],
  ['[fd00::]/8', ['[fd12::1]'], ['[fe80::1]']],
  ['fd00::1', ['[fd00::1]', '[fd00:0::1]:8080'], ['[fd00::2]']],
  ['[fd00::1]:8080', ['[fd00::1]:8080'], ['[fd00::1]']],
  ['10.0.0.1:8080', ['10.0.0.1:8080'], ['10.0.0.1']],
  ['10.0.0.1', ['10.0.0.1:8080'], ['10.0.0.2', '110.0.0.1']],
  ['10.*', ['10.1.2.3'], ['110.1.2.3', '10.example.com']],
  ['192.168.*.1', ['192.168.9.1'], ['192.168.9.2']],
  ['10.0.0.2-10.0.0.4', ['10.0.0.3'], ['10.0.0.5']],
  [' a.example ,, b.example\tc.example , ', ['a.example', 'b.example', 'c.example'], ['d.example']],
]

test('NO_PROXY supports names, wildcards, networks, ranges, and ports like curl, Go, Python, and Node', () => {
  const call = (host: string) => new URL(host.includes('://') ? host : `http://${host}/v1`)
  for (const [noProxy, direct, proxied] of table) {
    const isDirect = readNoProxy(noProxy)
    for (const host of direct) assert.is(isDirect(call(host)), true, `NO_PROXY="${noProxy}" and ${host}`)
    for (const host of proxied) assert.is(isDirect(call(host)), false, `NO_PROXY="${noProxy}" and ${host}`)
  }
})

test('rejects an invalid NO_PROXY entry with an error that quotes it', () => {
  for (const entry of [
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/255.0.0.0',
    '10/8',
    'fd00::/129',
    'example.com/8',
    '10.0.0.9-10.0.0.1',
    '10.0.0.1-fd00::1',
    '192.168.',
    '300.1.1.1',
    'http://example.com',
    'https://example.com:8443',
    'example.com/path',
    'example.com:99999',
    'example.com:0',
    'example.com:http',
    '"10.0.0.0/8"',
    'a.example;b.example',
    '<local>',
    'user@example.com',
    '*.',
  ]) {
    try {
      readNoProxy(`ok.example,${entry}`)
      assert.unreachable(entry)
    } catch (error) {
      assert.instance(error, NoProxyError, entry)
      assert.match(String(error), `"${entry}"`)
    }
  }
})
