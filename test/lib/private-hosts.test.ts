import { isPrivateHost } from '../../src/lib/urls.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('private hosts')

const isPrivate = (address: string) => isPrivateHost(new URL(address).hostname)

test('private addresses and local network names are recognized in every spelling', () => {
  for (const host of [
    ...['localhost', 'a.localhost', 'nas', 'nas.local', 'models.internal', 'x.lan', 'router.home.arpa', 'nas.'],
    ...['127.0.0.1', '2130706433', '0x7f.1', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
    ...['169.254.169.254', '100.64.0.1', '[::1]', '[::]', '[fd12::1]', '[fe80::1]', '[::ffff:192.168.0.1]'],
  ])
    assert.ok(isPrivate(`http://${host}/v1`), host)
})

test("public names and addresses aren't treated as private", () => {
  for (const host of [
    ...['api.openai.com', 'local.example.com', 'internal.io', '10.example.com', 'example.com.'],
    ...['8.8.8.8', '172.32.0.1', '172.15.0.1', '100.128.0.1', '192.169.0.1', '[2606:4700::1111]', '[::ffff:8.8.8.8]'],
  ])
    assert.not.ok(isPrivate(`http://${host}/v1`), host)
})
