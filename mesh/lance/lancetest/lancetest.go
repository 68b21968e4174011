// Package lancetest writes LanceDB databases as another implementation of RFC-0011 leaves them, for tests. It shares
// nothing with package lance, so that package lance is tested on data that it did not write.
package lancetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/lancedb/lancedb-go/pkg/lancedb"

	_ "github.com/yamo-protocol/yamo-mcp/native" // linker flags for lancedb-go
)

// Dimension is that of the vectors.
const Dimension = 8

// Row is a row of schema V1 (RFC-0011 §2.1).
type Row struct {
	ID, Content, Metadata string
	CreatedAt             time.Time
}

// ID is the id that an implementation in JavaScript gives the nth memory of a test: its end is base 36.
func ID(n int) string {
	return fmt.Sprintf("mem_%d_%s", 1_700_000_000_000+n*7919, strconv.FormatInt(int64(2_000_000_000+n), 36))
}

// Rows are n rows whose times are not those in their ids.
func Rows(n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{
			ID: ID(i), Content: fmt.Sprintf("it's row %d of %d", i, n),
			Metadata:  fmt.Sprintf(`{"type":"event","source":"elsewhere","tags":["t%d"],"n":%d}`, i%5, i),
			CreatedAt: time.UnixMilli(int64(1_700_000_000_031 + i*7919)).UTC(),
		}
	}
	return rows
}

// WriteV1 makes the table memory_entries in dir, in schema V1.
func WriteV1(ctx context.Context, dir string, rows []Row) (err error) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.BinaryTypes.String},
		{Name: "vector", Type: arrow.FixedSizeListOf(Dimension, arrow.PrimitiveTypes.Float32)},
		{Name: "content", Type: arrow.BinaryTypes.String},
		{Name: "metadata", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "created_at", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
		{Name: "updated_at", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
	}, nil)
	conn, err := lancedb.Connect(ctx, dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	form, err := lancedb.NewSchema(schema)
	if err != nil {
		return err
	}
	table, err := conn.CreateTable(ctx, "memory_entries", form)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i, r := range rows {
		b.Field(0).(*array.StringBuilder).Append(r.ID)
		list := b.Field(1).(*array.FixedSizeListBuilder)
		list.Append(true)
		for j := range Dimension {
			list.ValueBuilder().(*array.Float32Builder).Append(float32((i+j)%7) - 3) // not of unit length
		}
		b.Field(2).(*array.StringBuilder).Append(r.Content)
		b.Field(3).(*array.StringBuilder).Append(r.Metadata)
		if r.CreatedAt.IsZero() {
			b.Field(4).AppendNull()
		} else {
			b.Field(4).(*array.TimestampBuilder).Append(arrow.Timestamp(r.CreatedAt.UnixMilli()))
		}
		b.Field(5).AppendNull()
	}
	record := b.NewRecord()
	defer record.Release()
	return table.AddRecords(ctx, []arrow.Record{record}, nil)
}
