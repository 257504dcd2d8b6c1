/** Is it a file that Google keeps for one of its customers, so that the address means nothing elsewhere? */
export const isGoogleFile = (url: string): boolean => GOOGLE_FILE.test(url)

/** Is it a video that Google's models look at where it is, and nobody else can fetch? */
export const isAtYouTube = (url: string): boolean => YOUTUBE.test(url)

const GOOGLE_FILE = /^(?:gs:|https?:\/\/[a-z0-9.-]*googleapis\.com\/v[^/]*\/files\/)/i
const YOUTUBE = /^https?:\/\/(?:www\.|m\.)?youtu(?:\.be|be\.com)\//i
