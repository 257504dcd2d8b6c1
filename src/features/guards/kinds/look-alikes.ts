/** Pairs each letter with the Latin letter at the same index. */
const readPairs = (rows: ReadonlyArray<readonly [letters: string, latin: string]>) =>
  rows.flatMap(([letters, latin]) => Array.from(letters, (letter, index) => [letter, latin[index] ?? letter] as const))

/**
 * Characters that look like ASCII characters: letters of other alphabets (in lowercase, unless only the capital looks alike), small capitals, and
 * symbols.
 */
export const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  readPairs([
    ['авекмнорстухіјѕԁԛԝһӏɡ', 'abekmhopctyxijsdqwhlg'],
    ['ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢꞯꟺʁʛᴃᴎᴙᴚⱻꭆ', 'abcdefghijklmnoprstuvwyzqmrgbnrrer'], // small capitals
    ['αβεζηικμνορτυχγωςϲϳϝϻΗΝϹ', 'abeznikmvoptyxywscjfmhnc'],
    ['єѵԍѡҽԑ℮ҿ', 'evgweeee'],
    ['ıȷɩɑօսհոզգցՏաքռֆყჿ', 'ijiaouhnqgqswfnsyo'],
    ['ꭰꭱꭲꭵꭹꭺꭻꭼꮃꮇꮋꮍꮐꮒꮓꮟꮢꮤꮥꮩꮪꮮꮯꮲꮶᏻᏼꭶꮄꮅꮖꮷ', 'drtiyajewmhyghzbrwsvslcpkgbfdfid'], // Cherokee
    ['ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ', 'bpddtgkjczfmnlsrvhwxyaeiou'], // Lisu
    ['ⲁⲃⲉⲏⲓⲕⲙⲛⲟⲣⲥⲧⲩⲭⲅ', 'abehikmnopctyxr'], // Coptic
    ['ᗩᗅᗷᖯᑕᗪᗞᑯᗴᖴᕼᒍᒪᗰᑎᑭᑫᖇᔕᑌᐯᗯ᙭᙮ᕁᕽᘔ', 'aabbcdddefhjlmnpqrsuvwxxxxz'], // Canadian syllabics
    ['ꍏꌃꉓꀸꍟꎇꁅꃅꀤꀭꀘ꒒ꂵꈤꂦꉣꆰꋪꌗ꓄ꀎꃴꅏꊼꌩꁴ', 'abcdefghijklmnopqrstuvwxyz'], // Yi
    ['ⴹⵏⵔⵁⵕⴸⵝᛕᛁᛖᚷꛟꙇꭓᴦꞵ', 'elooqvxkimxvixrb'], // Tifinagh, runes, and others
    ['𐌀𐌁𐌂𐌃𐌄𐌅𐌆𐌇𐌉𐌊𐌋𐌌𐌍𐌏𐌐𐌑𐌒𐌓𐌔𐌕𐌖𐌗𐌙𐌠𐌢', 'abcdefzhiklmnopmqrstvxyix'], // Old Italic
    ['𐊠𐊂𐊡𐊢𐊆𐊇𐊥𐋏𐊊𐊰𐊒𐊫𐊕𐊖𐊗𐊱𐊐𐊴𐊲𐋵𐔥𐔘𐔦𐔓𐔖𐔝𐔧', 'abbceffhimoopsttxxyzfklnovx'], // Lycian, Carian, and Elbasan
    ['𐐽𐐬𐑈𐑃𐓪𐓶𐓜𑣀𑣁𑣂𑣃𑣆𑣈𑣕𑣘𑣜𖽀𖼨𖼖𖼵𖼺𖼊𖽂𖼈𖽃', 'coslourvsfieoouyailrstuvy'], // Deseret, Osage, Warang Citi, and Miao
    ['⍺⍶⋿⍳⍸∣⏽ǀ⍴⊤⟙∪⋃∨⋁×⤫⤬⨯╳∂∈⍵', 'aaeiilllpttuuvvxxxxxdew'], // symbols
    ['‐‑‒–—―−⁃‘’ʼ′ʹ∶꞉ː∕⁄。', "--------'''''::://."], // punctuation
  ]),
)

/**
 * Letters that Unicode doesn't decompose, each mapped to its base letter and a mark: lowercase letters with a stroke or a hook, turned letters, and
 * currency signs.
 */
export const STROKES: ReadonlyMap<string, string> = new Map(
  readPairs([
    ['øđłħŧƀɨʉꞓɇɍɏƶðþ', 'odlhtbiuceryzdp'],
    ['əɛɐʂʋɱŋɳɾʐɖʈɭɓɗɠƒƙɦƥƭƈʠƴȥɯ', 'eeasvmnnrzdtlbdgfkhptcqyzw'],
    [
      'ƃƌƚƞƫǥȡȴȵȶȼȿɀɉɋɕɟɫɬɰɲɺɻɼɽɿʄʑʝʮʯᴓᵬᵭᵮᵯᵰᵱᵲᵳᵴᵵᵶᵽᶀᶁᶂᶃᶄᶅᶆᶇᶈᶉᶊᶌᶍᶎᶏᶑᶒᶓᶖᶗᶙ',
      'bdlntgdlntcszjqcjllmnrrrrrjzjhhobdfmnprrstzpbdfgklmnprsvxzadeeiou',
    ],
    [
      'ỿⱡⱥⱦⱨⱪⱬⱱⱳⱴⱸⱹⱺꜿꝁꝃꝅꝉꝋꝍꝑꝓꝕꝗꝙꝟꞎꞑꞔꞕꞗꞙꞡꞣꞥꞧꞩꞹꟈꟊꬴꬶꬷꬸꬹꬺꬻꬾꬿꭄꭇꭉꭌꭎꭏꭒꭖꭗꭘꭙꭚꭨ',
      'ylathkzvwverockkkloopppqqvlnchbfgknrsudseglllmnooorrruuuxxxxyr',
    ],
    ['ǝɘɥɵɹʇʌʍʎʞᴉᴑᴖᴗᴝᵷꝇꝛꞁꬱꬲꬳꬵꬽꭃꭅꭋƽɣ', 'eehortvwykiooouglrlaeefoorrsy'],
    ['ғқҝҟҡӄңӈӊҫҭӎҳӽөҏәұү', 'fkkkkkhhhctmxxopeyy'],
    ['₳฿₵¢₡₫€£₤₣₲₭₥₦₱₽₹₴§₮₩¥', 'abcccdellfgkmnpprsstwy'],
  ]).map(([letter, latin]) => [letter, `${latin}\u0338`]),
)
