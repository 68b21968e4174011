#include "textflag.h"

// func productsAVX2(codes *byte, query *int8, blocks, rows int, sums *int32)
//
// A product of two bytes is at most 15*127, so four of them fit in 16 bits.
TEXT ·productsAVX2(SB), NOSPLIT, $0-40
	MOVQ codes+0(FP), SI
	MOVQ query+8(FP), DI
	MOVQ blocks+16(FP), CX
	MOVQ rows+24(FP), R8
	MOVQ sums+32(FP), DX
	MOVQ $0x0f0f0f0f0f0f0f0f, AX // the lower four bits of each byte
	VMOVQ AX, X15
	VPBROADCASTQ X15, Y15
	MOVQ $0x0001000100010001, AX // to add neighbours
	VMOVQ AX, X14
	VPBROADCASTQ X14, Y14

row:
	VPXOR Y0, Y0, Y0
	MOVQ DI, BX
	MOVQ CX, R9

block:
	VMOVDQU (SI), Y1
	VPSRLW $4, Y1, Y2
	VPAND Y15, Y1, Y1
	VPAND Y15, Y2, Y2
	VPMADDUBSW (BX), Y1, Y1
	VPMADDUBSW 32(BX), Y2, Y2
	VPADDW Y2, Y1, Y1
	VPMADDWD Y14, Y1, Y1
	VPADDD Y1, Y0, Y0
	ADDQ $32, SI
	ADDQ $64, BX
	DECQ R9
	JNZ block

	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VPADDD X1, X0, X0
	VMOVD X0, (DX)
	ADDQ $4, DX
	DECQ R8
	JNZ row
	VZEROUPPER
	RET

// func largestAVX2(v *float32, blocks int) float32
TEXT ·largestAVX2(SB), NOSPLIT, $0-20
	MOVQ v+0(FP), SI
	MOVQ blocks+8(FP), CX
	SHLQ $2, CX
	MOVL $0x7fffffff, AX // all but the sign
	VMOVD AX, X15
	VPBROADCASTD X15, Y15
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1

numbers:
	VANDPS (SI), Y15, Y2
	VANDPS 32(SI), Y15, Y3
	VMAXPS Y2, Y0, Y0
	VMAXPS Y3, Y1, Y1
	ADDQ $64, SI
	DECQ CX
	JNZ numbers

	VMAXPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPS X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VMAXPS X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VMAXPS X1, X0, X0
	VMOVSS X0, ret+16(FP)
	VZEROUPPER
	RET

DATA order<>+0(SB)/4, $0
DATA order<>+4(SB)/4, $4
DATA order<>+8(SB)/4, $1
DATA order<>+12(SB)/4, $5
DATA order<>+16(SB)/4, $2
DATA order<>+20(SB)/4, $6
DATA order<>+24(SB)/4, $3
DATA order<>+28(SB)/4, $7
GLOBL order<>(SB), RODATA|NOPTR, $32

// CODES makes 8 bytes, in 32 bits each, of the numbers at low and at high.
#define CODES(low, high, out, tmp) \
	VMULPS low(SI), Y15, out  \
	VADDPS Y14, out, out      \
	VCVTTPS2DQ out, out       \
	VMULPS high(SI), Y15, tmp \
	VADDPS Y14, tmp, tmp      \
	VCVTTPS2DQ tmp, tmp       \
	VPSLLD $4, tmp, tmp       \
	VPOR tmp, out, out

// func packAVX2(v *float32, codes *byte, blocks int, scale float32)
TEXT ·packAVX2(SB), NOSPLIT, $0-28
	MOVQ v+0(FP), SI
	MOVQ codes+8(FP), DI
	MOVQ blocks+16(FP), CX
	VBROADCASTSS scale+24(FP), Y15
	MOVL $0x41000000, AX // 8, which is middle and a half to round
	VMOVD AX, X14
	VPBROADCASTD X14, Y14
	VMOVDQU order<>(SB), Y13

codes:
	CODES(0, 128, Y0, Y4)
	CODES(32, 160, Y1, Y5)
	CODES(64, 192, Y2, Y6)
	CODES(96, 224, Y3, Y7)
	VPACKUSDW Y1, Y0, Y0
	VPACKUSDW Y3, Y2, Y2
	VPACKUSWB Y2, Y0, Y0
	VPERMD Y0, Y13, Y0
	VMOVDQU Y0, (DI)
	ADDQ $256, SI
	ADDQ $32, DI
	DECQ CX
	JNZ codes
	VZEROUPPER
	RET
