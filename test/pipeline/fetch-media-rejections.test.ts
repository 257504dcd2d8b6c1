import { assert, suite } from '../support/suite.ts'
import { ADDRESS, createRequest, getError, image, media, openMedia, PDF, png, redirect } from './support/media.ts'

const test = suite("media that the gateway won't download")

const inward = [
  'https://169.254.169.254/latest',
  'http://images.example.com/a.png',
  'https://localhost/',
  'https://a:b@cdn.example.com/',
  'https://cdn.example.com:8443/',
  'file:///etc/passwd',
  'data:image/png;base64,iVBORw0KGgo=',
]
for (const location of inward) {
  test(`redirects to ${location} aren't followed`, async () => {
    const { message, fetched } = await getError(() => redirect(location))
    assert.match(message, /it redirects, but /)
    assert.equal(fetched, [ADDRESS])
    assert.not.match(message, location)
  })
}

test('at most 3 redirects are followed', async () => {
  let hops = 0
  const { message, fetched } = await getError(() => redirect(`https://images.example.com/${++hops}`))
  assert.match(message, 'more than 3 times')
  assert.is(fetched.length, 4)
})

test("an image URL with a username isn't requested, and the error omits its query", async () => {
  const { message, fetched } = await getError(png, image('https://user@127.1/a?token=s3cret'))
  assert.match(message, '"127.0.0.1": URLs with a username or password are not fetched. Send it as base64.')
  assert.not.match(message, 's3cret')
  assert.equal(fetched, [])
})

test('the error for a failed download contains the host, but nothing from the response', async () => {
  const { message } = await getError(
    () => new Response('secret words', { status: 403, statusText: 'Secret' }),
    image('https://images.example.com/path?sig=s3cret'),
  )
  assert.match(message, '"images.example.com": the server returned status 403. Send it as base64.')
  assert.not.match(message, /secret|s3cret|path/i)
})

test('an unreachable host is reported without the underlying error', async () => {
  const { message } = await getError(() => {
    throw new TypeError('fetch failed: connect 10.1.2.3:443')
  })
  assert.match(message, 'the server could not be reached')
  assert.not.match(message, '10.1.2.3')
})

const wrong: Record<string, Response> = {
  'an HTML page': media('<html>', 'text/html'),
  'an SVG': media('<svg/>', 'image/svg+xml'),
  JSON: media('{}', 'application/json'),
  'an HTML page with an image type': media('<html>', 'image/png'),
  'an HTML page without a type': media('<html>', ''),
  'a PDF': media(PDF, 'application/pdf'),
  'plain text': media('Hi', 'text/plain'),
}
for (const [label, response] of Object.entries(wrong)) {
  test(`${label} isn't accepted as an image`, async () => {
    const { message } = await getError(() => response)
    assert.match(message, /it is not an image|its media type is not supported/)
    assert.not.match(message, /html|svg|json|Hi/)
  })
}

test("a YouTube page isn't accepted as an image", async () => {
  const { world, sent, fetched } = await openMedia(png)
  const response = await world.chat(createRequest('google/g', image('https://youtu.be/a')))
  assert.match((await response.json()).error.message, 'the target does not support images by URL.')
  assert.is(sent(), null)
  assert.equal(fetched, [])
})

test("media aren't downloaded if the app disables downloads", async () => {
  const { message, fetched } = await getError(png, image(), { fetchMedia: false })
  assert.match(message, 'the target does not support images by URL.')
  assert.equal(fetched, [])
})

test("a failed download cancels the other downloads, and queued ones don't start", async () => {
  const { world, upstream } = await openMedia(({ url }) =>
    url.pathname === '/2' ? new Response('no', { status: 404 }) : new Promise<Response>(() => {}),
  )
  const images = Array.from({ length: 9 }, (_, index) => image(`https://images.example.com/${index}`))
  const response = await world.chat(createRequest('google/g', ...images))
  assert.is((await response.json()).error.param, 'messages[0].content[2]')
  await world.clock.advance(0)
  assert.is(upstream.open, 0)
  assert.ok(upstream.calls.length <= 5, `${upstream.calls.length} calls`)
  assert.is(world.clock.pending(), 0)
})
