const utf8 = new TextEncoder();

/** The name that was hashed last. A cache: one call looks for its name in several places. */
let last = { name: '', hash: fnv('') };

/** FNV-1a with 32 bits over the UTF-8 bytes of a name. */
export function hashOf(name: string): number {
  if (name !== last.name) last = { name, hash: fnv(name) };
  return last.hash;
}

/** Most names are ASCII, whose bytes are their units. */
function fnv(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    const unit = name.charCodeAt(index);
    if (unit > 127) return fnvOfBytes(utf8.encode(name));
    hash = Math.imul(hash ^ unit, 0x01000193);
  }
  return hash >>> 0;
}

function fnvOfBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
