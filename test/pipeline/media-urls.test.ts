import { findUrlProblem } from '../../src/request/codec/download.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('URLs that the gateway downloads from')

const fetched = [
  'https://images.example.com/a.png',
  'HTTPS://Images.Example.COM/a.png?size=1#top',
  'https://example.com:443/a.png',
  'https://a-b.c_d.example.co.uk/',
  'https://bücher.example.org/a.png',
  'https://例え.テスト.com/a',
  'https://1.example.com/a.png',
  'https://10.0.0.1.example.com/a.png',
  'https://localhost.example.com/a.png',
  'https://internal-images.com/a.png',
  'https://bucket.s3.eu-west-1.amazonaws.com/a.pdf?X-Amz-Signature=0',
  'https:\\\\example.com\\a.png',
]

const rejected: Record<string, readonly string[]> = {
  'only https': [
    'http://example.com/a.png',
    'ftp://example.com/a.png',
    'file:///etc/passwd',
    'gs://bucket/a.png',
    'blob:https://example.com/1',
    'javascript:alert(1)',
  ],
  'username or password': [
    'https://user@example.com/a.png',
    'https://user:secret@example.com/a.png',
    'https://:secret@example.com/a.png',
    'https://example.com@127.0.0.1/',
  ],
  'default port': ['https://example.com:8443/a.png', 'https://example.com:80/', 'https://127.0.0.1:6379/'],
  'public host name': [
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f.0.0.1/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://2130706433/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    'https://%31%32%37.0.0.1/',
    'https://127。0。0。1/',
    'https://①②⑦.0.0.1/',
    'https://0/',
    'https://10.0.0.1/',
    'https://192.168.1.1/',
    'https://172.16.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://2852039166/',
    'https://0xa9fea9fe/',
    'https://100.64.0.1/',
    'https://8.8.8.8/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fd00:ec2::254]/',
    'https://[fe80::1]/',
    'https://[2001:4860:4860::8888]/',
    'https://localhost/',
    'https://LOCALHOST/',
    'https://localhost./',
    'https://lоcalhost/', // contains a Cyrillic letter
    'https://a.localhost/',
    'https://ⓛocalhost/',
    'https://router/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://metadata.google.internal./',
    'https://metadata.goog/',
    'https://nas.home.arpa/',
    'https://1.0.0.127.in-addr.arpa/',
    'https://nas.home/',
    'https://nas.lan/',
    'https://wiki.intranet/',
    'https://wiki.corp/',
    'https://vault.private/',
    'https://api.default.svc/',
    'https://api.default.svc.cluster.local/',
    'https://a.test/',
    'https://a.example/',
    'https://a.invalid/',
    'https://abc.onion/',
    'https://a.localdomain/',
    'https://db.service.consul/',
    'https://example.com./',
    'https://a..example.com/',
    'https://-a.example.com/',
    'https://a!b.example.com/',
    'https://127.0.0.1.nip.io/',
    'https://10-0-0-1.sslip.io/',
    'https://localtest.me/',
    `https://${'a.'.repeat(130)}com/`,
    `https://${'a'.repeat(64)}.com/`,
  ],
}

for (const address of fetched)
  test(`the gateway downloads ${address}`, () => {
    assert.is(findUrlProblem(new URL(address)), undefined)
  })

for (const [reason, addresses] of Object.entries(rejected))
  for (const address of addresses)
    test(`the gateway doesn't download ${address.slice(0, 60)} (${reason})`, () => {
      assert.match(findUrlProblem(new URL(address)) ?? 'it does', reason)
    })
