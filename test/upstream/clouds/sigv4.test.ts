import { AwsV4Signer } from 'aws4fetch'
import { type Signable, signV4 } from '../../support/sigv4.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('AWS Signature Version 4')

/** The scope used in AWS's published test suite (aws-c-auth, aws-signing-test-suite/v4). */
const scope = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
  service: 'service',
  now: Date.parse('2015-08-30T12:36:00Z'),
}

const get: Signable = { method: 'GET', host: 'example.amazonaws.com', pathname: '/', search: '', headers: {}, body: '' }
const post: Signable = { ...get, method: 'POST' }
const unreserved = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const stsToken =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=='

/** A request, the names of its signed headers, its signature, and its session token. */
const vectors: Record<string, [request: Signable, names: string, signature: string, sessionToken?: string]> = {
  'get-vanilla': [get, 'host;x-amz-date', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  'post-vanilla': [post, 'host;x-amz-date', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  'get-utf8': [
    { ...get, pathname: '/ሴ' },
    'host;x-amz-date',
    '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85',
  ],
  'get-space-normalized': [
    { ...get, pathname: '/example space/' },
    'host;x-amz-date',
    '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741',
  ],
  'get-unreserved': [
    { ...get, pathname: `/${unreserved}` },
    'host;x-amz-date',
    '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  ],
  'get-vanilla-query-order-key-case': [
    { ...get, search: '?Param2=value2&Param1=value1' },
    'host;x-amz-date',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  'get-vanilla-utf8-query': [
    { ...get, search: '?ሴ=bar' },
    'host;x-amz-date',
    '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
  ],
  'get-header-value-trim': [
    { ...get, headers: { 'My-Header1': ' value1', 'My-Header2': ' "a   b   c"' } },
    'host;my-header1;my-header2;x-amz-date',
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  ],
  'post-header-key-sort': [
    { ...post, headers: { 'My-Header1': 'value1' } },
    'host;my-header1;x-amz-date',
    'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
  ],
  'post-x-www-form-urlencoded': [
    {
      ...post,
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        'Content-Length': '13',
        'x-amz-content-sha256': '9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e',
      },
      body: 'Param1=value1',
    },
    'content-length;content-type;host;x-amz-content-sha256;x-amz-date',
    'd3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b',
  ],
  'get-vanilla-with-session-token': [
    get,
    'host;x-amz-date;x-amz-security-token',
    '07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8',
    '6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267',
  ],
  'post-sts-header-before': [
    post,
    'host;x-amz-date;x-amz-security-token',
    '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
    stsToken,
  ],
}

for (const [name, [request, names, signature, sessionToken]] of Object.entries(vectors)) {
  const authorization = `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`
  const session = sessionToken === undefined ? {} : { sessionToken }

  test(`the test signer signs the request ${name} as in the AWS test suite`, () => {
    const headers = signV4(request, { ...scope, ...session })
    assert.equal(headers, {
      'x-amz-date': '20150830T123600Z',
      ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
      authorization,
    })
  })

  test(`the aws4fetch library signs the request ${name} as in the AWS test suite`, async () => {
    const { method, host, pathname, search, headers, body } = request
    const signer = new AwsV4Signer({
      ...{ ...scope, ...session, method, headers, body: String(body), datetime: '20150830T123600Z' },
      ...{ url: `https://${host}${pathname}${search}`, allHeaders: true },
      singleEncode: true, // the vectors contain unencoded paths
    })
    assert.is((await signer.sign()).headers.get('authorization'), authorization)
  })
}

test('bytes are signed like the text that they encode', () => {
  const body = new TextEncoder().encode('Param1=value1')
  assert.equal(signV4({ ...post, body }, scope), signV4({ ...post, body: 'Param1=value1' }, scope))
})
